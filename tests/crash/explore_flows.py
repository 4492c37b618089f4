"""The sagas that are explored.

The order flow is that of the design (reserve, charge, ship); the trip is the five-minute saga; the
fan has branches, one of them optional; the patient one waits; the nested one has the trip within.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from saga import Call, Provider, Retry, Saga, Step, SubSaga, Undo, Wait, bind, input_of
from saga.testing import World
from tests.definition.order_flow import (
    Charge,
    ChargeReceipt,
    Hold,
    Order,
    Parcel,
    Refund,
    Reservation,
    Shipment,
)

__all__ = ["fan", "nested", "order_flow", "patient", "trip"]


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


def _booking(
    world: World, wanted: Trip, provider: Provider, *, probes: bool
) -> Callable[..., Step[Trip, Booking]]:
    """What makes the steps of a trip."""
    retry = Retry(attempts=2)

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

    return step


def trip(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """The five-minute saga: the input whole, nothing else declared."""
    world, wanted = World(), input_of(Trip)
    step = _booking(world, wanted, provider, probes=probes)
    saga = Saga("trip", wanted, [step("hotel"), step("flight")])
    return saga, world, Trip(traveller="Ada", city="Rome")


def fan(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """A hotel; then a car and an optional tour beside each other; then the papers for both."""
    world, wanted = World(), input_of(Trip)
    step = _booking(world, wanted, provider, probes=probes)
    hotel = step("hotel")
    car = step("car", after=[hotel])
    tour = step("tour", after=[hotel], optional=True)
    papers = step("papers", after=[car, tour])
    saga = Saga("fan", wanted, [hotel, car, tour, papers])
    return saga, world, Trip(traveller="Ada", city="Rome")


def nested(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """The trip within another saga, a car after it."""
    inner, world, given = trip(provider, probes=probes)
    wanted = input_of(Trip)
    car = _booking(world, wanted, provider, probes=probes)("car")
    return Saga("nested", wanted, [SubSaga("trip", inner, args=wanted), car]), world, given


class Payment(BaseModel):
    amount: str


def patient(provider: Provider, *, probes: bool) -> tuple[Saga[Trip], World, Trip]:
    """A hotel, a night's sleep, a payment that somebody brings, and a flight."""
    world, wanted = World(), input_of(Trip)
    step = _booking(world, wanted, provider, probes=probes)
    night = Wait("night", time=timedelta(hours=8))
    paid = Wait("paid", signal=Payment, limit=timedelta(days=2))
    saga = Saga("patient", wanted, [step("hotel"), night, paid, step("flight")])
    return saga, world, Trip(traveller="Ada", city="Rome")
