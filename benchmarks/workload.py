"""The saga that is measured: reserve, charge, ship, with effects in this process.

They return at once, so what is measured is the orchestrator alone. `compensated` refuses the third
step, so that two undos follow.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pydantic import BaseModel

from saga import App, Call, Compensation, Effect, Refused, Saga, Step, Undo, Wait, bind, input_of

__all__ = ["COMPENSATED", "HAPPY", "SLEEPER", "TRANSITIONS", "Order", "app", "order"]


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


class Charged(BaseModel):
    charge_id: str
    idempotency_key: str


class Shipment(BaseModel):
    order_id: str
    hold_id: str
    address: str


class Parcel(BaseModel):
    tracking: str


async def _reserve(call: Call[Reservation]) -> Hold:
    return Hold(hold_id=f"hold-{call.args.order_id}")


async def _release(call: Undo[Reservation, Hold]) -> None:
    """Nothing to wait for."""


async def _charge(call: Call[Charge]) -> Charged:
    return Charged(charge_id=f"charge-{call.args.order_id}", idempotency_key=call.key)


async def _refund(call: Undo[Charge, Charged]) -> None:
    """Nothing to wait for."""


async def _ship(call: Call[Shipment]) -> Parcel:
    return Parcel(tracking=f"parcel-{call.args.order_id}")


async def _refuse(call: Call[Shipment]) -> Parcel:
    raise Refused(f"no carrier at attempt {call.attempt}")


async def _recall(call: Undo[Shipment, Parcel]) -> None:
    """Nothing to wait for."""


def _saga(name: str, ship: Effect[Shipment, Parcel]) -> Saga[Order]:
    given = input_of(Order)
    reserved = Step(
        "reserve",
        Effect("inventory.reserve", _reserve, target=["order_id"]),
        compensation=Compensation("inventory.release", _release),
        args=bind(Reservation)(order_id=given.id, sku=given.sku, quantity=given.quantity),
    )
    charged = Step(
        "charge",
        Effect("payments.charge", _charge, target=["order_id"]),
        compensation=Compensation("payments.refund", _refund),
        args=bind(Charge)(
            order_id=given.id, amount=given.total, payment_method=given.payment_method
        ),
    )
    shipped = Step(
        "ship",
        ship,
        compensation=Compensation("shipping.cancel", _recall),
        args=bind(Shipment)(
            order_id=given.id, hold_id=reserved.receipt.hold_id, address=given.address
        ),
    )
    return Saga(name, given, [reserved, charged, shipped])


def _sleeper() -> Saga[Order]:
    given = input_of(Order)
    reserved = Step(
        "reserve",
        Effect("inventory.reserve", _reserve, target=["order_id"]),
        compensation=Compensation("inventory.release", _release),
        args=bind(Reservation)(order_id=given.id, sku=given.sku, quantity=given.quantity),
    )
    return Saga("sleeper", given, [reserved, Wait("night", time=timedelta(days=30))])


HAPPY = _saga("happy", Effect("shipping.create", _ship, target=["order_id"]))
COMPENSATED = _saga("compensated", Effect("shipping.create", _refuse, target=["order_id"]))
TRANSITIONS = {"happy": 4, "compensated": 6}  # durable records between the start and the end
SLEEPER = _sleeper()  # what is asleep costs a row of an index
app = App(HAPPY, COMPENSATED, SLEEPER)


def order(number: int) -> Order:
    """An input of the usual size."""
    return Order(
        id=f"order-{number:08d}",
        sku="sku-1",
        quantity=2,
        total=Decimal("120.50"),
        payment_method="pm_visa",
        address="1 Main Street, Springfield",
    )
