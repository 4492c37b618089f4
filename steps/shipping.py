"""Parcels: send one, call it off."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel

from saga import (
    Absent,
    Call,
    CannotSay,
    Compensation,
    Effect,
    InProgress,
    Provider,
    Retry,
    Undo,
)
from steps import keyed

__all__ = [
    "Cancellation",
    "Parcel",
    "Shipment",
    "at",
    "cancel",
    "find_cancellation",
    "find_parcel",
    "ship",
]


class Shipment(BaseModel):
    """What to send where, for which order."""

    order_id: str
    hold_id: str
    address: str


class Parcel(keyed.Receipt):
    """The parcel that will be sent."""

    shipment_id: str
    tracking: str


class Cancellation(keyed.Receipt):
    """The parcel will not be sent."""

    cancellation_id: str


async def ship(call: Call[Shipment]) -> Parcel:
    return await keyed.make(call, "/shipments", call.args.model_dump(mode="json"), Parcel)


async def find_parcel(call: Call[Shipment]) -> Parcel | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/shipments", Parcel)


async def cancel(call: Undo[Shipment, Parcel]) -> Cancellation:
    what = {"shipment_id": call.receipt.shipment_id}
    return await keyed.make(call, "/cancellations", what, Cancellation)


async def find_cancellation(
    call: Undo[Shipment, Parcel],
) -> Cancellation | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/cancellations", Cancellation)


def at(
    provider: Provider | None = None,
    *,
    timeout: timedelta = timedelta(seconds=20),
    retry: Retry = keyed.RETRY,
    undo_retry: Retry = keyed.UNDO_RETRY,
    undo_deadline: timedelta | None = timedelta(days=7),
) -> tuple[Effect[Shipment, Parcel], Compensation[Shipment, Parcel]]:
    """Sending and calling off at this provider."""
    create_shipment = Effect(
        "shipping.create",
        ship,
        probe=find_parcel,
        target=["order_id"],
        timeout=timeout,
        provider=provider,
        retry=retry,
    )
    cancel_shipment = Compensation(
        "shipping.cancel",
        cancel,
        probe=find_cancellation,
        timeout=timeout,
        provider=provider,
        retry=undo_retry,
        deadline=undo_deadline,
    )
    return create_shipment, cancel_shipment
