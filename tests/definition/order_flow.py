"""The order flow of the design as the fixture of these tests; its digest is pinned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal

from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    Compensation,
    Effect,
    Provider,
    Retry,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
)


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


class CardDeclined(Exception):
    pass


class ConnectError(Exception):
    pass


async def reserve(call: Call[Reservation]) -> Hold:
    return Hold(hold_id=call.key)


def release(call: Undo[Reservation, Hold | None]) -> None:
    pass


async def charge(call: Call[Charge]) -> ChargeReceipt:
    return ChargeReceipt(charge_id="ch_1", idempotency_key=call.key)


async def find_charge(call: Call[Charge]) -> ChargeReceipt | Absent:
    return Absent()


async def refund(call: Undo[Charge, ChargeReceipt]) -> Refund:
    return Refund(refund_id=call.receipt.charge_id)


async def find_refund(call: Undo[Charge, ChargeReceipt]) -> Refund | Absent:
    return Absent()


def ship(call: Call[Shipment]) -> Parcel:
    return Parcel(tracking=call.key)


async def cancel(call: Undo[Shipment, Parcel]) -> None:
    pass


shop = Provider(
    "shop",
    key_life=timedelta(hours=24),
    in_flight=timedelta(seconds=90),
    visible_after=timedelta(seconds=10),
    late_until=timedelta(hours=1),
)
reserve_stock = Effect("inventory.reserve", reserve, provider=shop)
release_stock = Compensation("inventory.release", release, provider=shop)
charge_card = Effect(
    "payments.charge",
    charge,
    probe=find_charge,
    target=["order_id"],
    refused=[CardDeclined],
    not_sent=[ConnectError],
    timeout=timedelta(seconds=20),
    provider=shop,
    retry=Retry(attempts=5),
)
refund_card = Compensation(
    "payments.refund", refund, probe=find_refund, provider=shop, deadline=timedelta(days=7)
)
create_shipment = Effect("shipping.create", ship, provider=shop)
cancel_shipment = Compensation("shipping.cancel", cancel, provider=shop)

order = input_of(Order)
reserved = Step(
    "reserve",
    reserve_stock,
    compensation=release_stock,
    args=bind(Reservation)(order_id=order.id, sku=order.sku, quantity=order.quantity),
)
charged = Step(
    "charge",
    charge_card,
    compensation=refund_card,
    args=bind(Charge)(order_id=order.id, amount=order.total, payment_method=order.payment_method),
)
shipped = Step(
    "ship",
    create_shipment,
    compensation=cancel_shipment,
    args=bind(Shipment)(order_id=order.id, hold_id=reserved.receipt.hold_id, address=order.address),
)
order_flow = Saga("order-flow", order, [reserved, charged, shipped], deadline=timedelta(days=2))


@asynccontextmanager
async def lifespan() -> AsyncIterator[Sequence[object]]:
    yield []


app = App(order_flow, lifespan=lifespan)
