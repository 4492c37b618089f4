"""Stock: reserve it, release it.

Releasing works without a receipt too: the service is told the key of the reservation, whatever
became of that. So a reservation nobody can tell the fate of can still be taken back.
"""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, Field

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
    "Hold",
    "Release",
    "Reservation",
    "at",
    "find_hold",
    "find_release",
    "release",
    "reserve",
]


class Reservation(BaseModel):
    """What to reserve, for which order."""

    order_id: str
    sku: str
    quantity: int = Field(ge=1)


class Hold(keyed.Receipt):
    """The stock that is held."""

    hold_id: str


class Release(keyed.Receipt):
    """The stock is free again; without `hold_id`, there was nothing to release."""

    release_id: str
    hold_id: str | None


async def reserve(call: Call[Reservation]) -> Hold:
    return await keyed.make(call, "/holds", call.args.model_dump(mode="json"), Hold)


async def find_hold(call: Call[Reservation]) -> Hold | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/holds", Hold)


async def release(call: Undo[Reservation, Hold | None]) -> Release:
    hold = call.receipt
    what = {"hold_key": call.of_key} if hold is None else {"hold_id": hold.hold_id}
    return await keyed.make(call, "/releases", what, Release)


async def find_release(
    call: Undo[Reservation, Hold | None],
) -> Release | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/releases", Release)


def at(
    provider: Provider | None = None,
    *,
    timeout: timedelta = timedelta(seconds=20),
    retry: Retry = keyed.RETRY,
    undo_retry: Retry = keyed.UNDO_RETRY,
    undo_deadline: timedelta | None = timedelta(days=7),
) -> tuple[Effect[Reservation, Hold], Compensation[Reservation, Hold | None]]:
    """Reserving and releasing at this provider."""
    reserve_stock = Effect(
        "inventory.reserve",
        reserve,
        probe=find_hold,
        target=["order_id"],
        timeout=timeout,
        provider=provider,
        retry=retry,
    )
    release_stock = Compensation(
        "inventory.release",
        release,
        probe=find_release,
        timeout=timeout,
        provider=provider,
        retry=undo_retry,
        deadline=undo_deadline,
    )
    return reserve_stock, release_stock
