"""The sagas that are explored, in every shape: what the providers can do, and what goes wrong.

The order flow is that of the design (reserve, charge, ship); the trip is the five-minute saga. A
shape is named `flow, provider, mishap`; with `nothing` the providers declare nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from saga import Call, Provider, Retry, Saga, Step, Undo, bind, input_of
from saga.testing import Fate, Report, World, explore

__all__ = ["PROVIDERS", "SHAPES", "Shape", "fan", "order_flow", "trip"]


class Order(BaseModel):
    id: str
    sku: str
    quantity: int
    total: Decimal
    payment_method: str
    address: str


class Reservation(BaseModel):
    order_id: str
    sku: str
    quantity: int


class Hold(BaseModel):
    hold_id: str


class Charge(BaseModel):
    order_id: str
    amount: Decimal
    payment_method: str


class ChargeReceipt(BaseModel):
    charge_id: str
    idempotency_key: str


class Refund(BaseModel):
    refund_id: str


class Shipment(BaseModel):
    order_id: str
    hold_id: str
    address: str


class Parcel(BaseModel):
    tracking: str


def reserve(call: Call[Reservation]) -> Hold:
    return Hold(hold_id=f"hold of {call.args.order_id}")


def release(call: Undo[Reservation, Hold | None]) -> None:
    """Works without a receipt, and in a thread."""


async def charge(call: Call[Charge]) -> ChargeReceipt:
    return ChargeReceipt(charge_id=f"charge of {call.args.amount}", idempotency_key=call.key)


async def refund(call: Undo[Charge, ChargeReceipt]) -> Refund:
    return Refund(refund_id=f"refund of {call.receipt.charge_id}")


async def ship(call: Call[Shipment]) -> Parcel:
    return Parcel(tracking=f"parcel with {call.args.hold_id}")


async def recall(call: Undo[Shipment, Parcel]) -> None:
    assert call.receipt.tracking


def order_flow(
    provider: Provider, *, probes: bool, timeout: float = 20
) -> tuple[Saga[Order], World, Order]:
    world = World()
    order, retry = input_of(Order), Retry(attempts=2)
    reserved = Step(
        "reserve",
        world.effect("inventory.reserve", reserve, provider=provider, probe=probes, retry=retry),
        args=bind(Reservation)(order_id=order.id, sku=order.sku, quantity=order.quantity),
        compensation=world.compensation(
            "inventory.release", release, provider=provider, probe=probes, retry=retry
        ),
    )
    charged = Step(
        "charge",
        world.effect(
            "payments.charge",
            charge,
            target=["order_id"],
            timeout=timeout,
            provider=provider,
            probe=probes,
            retry=retry,
        ),
        args=bind(Charge)(
            order_id=order.id, amount=order.total, payment_method=order.payment_method
        ),
        compensation=world.compensation(
            "payments.refund",
            refund,
            deadline=timedelta(days=7),
            provider=provider,
            probe=probes,
            retry=retry,
        ),
    )
    shipped = Step(
        "ship",
        world.effect("shipping.create", ship, provider=provider, probe=probes, retry=retry),
        args=bind(Shipment)(
            order_id=order.id, hold_id=reserved.receipt.hold_id, address=order.address
        ),
        compensation=world.compensation(
            "shipping.cancel", recall, provider=provider, probe=probes, retry=retry
        ),
    )
    saga = Saga("order-flow", order, [reserved, charged, shipped], deadline=timedelta(days=2))
    return saga, world, _order()


def _order() -> Order:
    return Order(
        id="order-1",
        sku="lamp",
        quantity=1,
        total=Decimal("12.50"),
        payment_method="card",
        address="Paris",
    )


class Trip(BaseModel):
    traveller: str
    city: str


class Booking(BaseModel):
    booking_id: str


async def book(call: Call[Trip]) -> Booking:
    return Booking(booking_id=f"{call.step} in {call.args.city}")


async def drop(call: Undo[Trip, Booking]) -> None:
    assert call.receipt.booking_id


def trip(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """The five-minute saga: the input whole, nothing else declared."""
    world, wanted, retry = World(), input_of(Trip), Retry(attempts=2)
    steps = [
        Step(
            name,
            world.effect(f"{name}.book", book, provider=provider, probe=probes, retry=retry),
            args=wanted,
            compensation=world.compensation(
                f"{name}.drop", drop, provider=provider, probe=probes, retry=retry
            ),
        )
        for name in ("hotel", "flight")
    ]
    return Saga("trip", wanted, steps), world, Trip(traveller="Ada", city="Rome")


def fan(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """A hotel; then a car and an optional tour beside each other; then the papers for both."""
    world, wanted, retry = World(), input_of(Trip), Retry(attempts=2)

    def step(name: str, **given: Any) -> Step[Trip, Booking]:
        return Step(
            name,
            world.effect(f"{name}.book", book, provider=provider, probe=probes, retry=retry),
            args=wanted,
            compensation=world.compensation(
                f"{name}.drop", drop, provider=provider, probe=probes, retry=retry
            ),
            **given,
        )

    hotel = step("hotel")
    car = step("car", after=[hotel])
    tour = step("tour", after=[hotel], optional=True)
    papers = step("papers", after=[car, tour])
    saga = Saga("fan", wanted, [hotel, car, tour, papers])
    return saga, world, Trip(traveller="Ada", city="Rome")


_Flow = Callable[..., tuple[Saga[Any], World, Any]]

_BOUNDS: dict[str, Any] = {
    "in_flight": timedelta(seconds=90),
    "visible_after": timedelta(seconds=10),
    "late_until": timedelta(hours=1),
}
PROVIDERS = {
    "keys and probes": (Provider("shop", key_life=timedelta(hours=24), **_BOUNDS), True),
    "keys": (Provider("shop", key_life=timedelta(hours=24), **_BOUNDS), False),
    "probes": (Provider("shop", **_BOUNDS), True),
    "nothing": (Provider("shop"), False),
}
_MISHAPS: dict[_Flow, dict[str, tuple[str, ...]]] = {
    order_flow: {
        "all goes well": (),
        "reserve is refused": ("inventory.reserve",),
        "charge is refused": ("payments.charge",),
        "ship is refused": ("shipping.create",),
        "release is refused": ("shipping.create", "inventory.release"),
        "refund is refused": ("shipping.create", "payments.refund"),
        "recall is refused": ("shipping.cancel",),
    },
    trip: {
        "all goes well": (),
        "hotel is refused": ("hotel.book",),
        "flight is refused": ("flight.book",),
        "drop of hotel is refused": ("flight.book", "hotel.drop"),
        "drop of flight is refused": ("flight.drop",),
    },
    fan: {
        "all goes well": (),
        "car and tour are refused": ("car.book", "tour.book"),
        "papers are refused": ("papers.book",),
        "drop of car is refused": ("papers.book", "car.drop"),
    },
}
_STRAGGLERS: dict[str, tuple[str, _Flow]] = {
    "order flow": ("payments.charge", order_flow),
    "trip": ("flight.book", trip),
}


@dataclass(frozen=True)
class Shape:
    """One exploration. `plans`: of a contract, what becomes of its first requests and the rest."""

    name: str
    flow: _Flow
    provider: Provider
    probes: bool
    plans: Mapping[str, tuple[Fate, ...]]

    def explore(self, **options: Any) -> Report:
        """Both ways: unless told otherwise, somebody may cancel at any moment."""
        saga, world, given = self.flow(self.provider, probes=self.probes)
        for name, (*first, then) in self.plans.items():
            world.meets(name, *first, then=then)
        return explore(saga, given, **{"cancel": True, **options})


def _shapes() -> Iterator[Shape]:
    for flow, mishaps in _MISHAPS.items():
        for kind, (provider, probes) in PROVIDERS.items():
            for mishap, refused in mishaps.items():
                name = f"{flow.__name__.replace('_', ' ')}, {kind}, {mishap}"
                plans = dict.fromkeys(refused, (Fate.REFUSE,))
                yield Shape(name, flow, provider, probes, plans)
    for flow_name, (contract, flow) in _STRAGGLERS.items():
        for kind, (provider, probes) in PROVIDERS.items():
            name = f"{flow_name}, {kind}, a straggler"
            yield Shape(name, flow, provider, probes, {contract: (Fate.STRAGGLE, Fate.ACT)})


SHAPES = {shape.name: shape for shape in _shapes()}
