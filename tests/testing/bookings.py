"""Steps that note each call, for tests of what is called, and in which order."""

from __future__ import annotations

from typing import Any

from saga import Call, Compensation, Effect, Provider, Retry, Step, Undo, input_of
from tests.testing.trips import Booking, Trip

__all__ = ["book", "calls", "drop", "step", "trip"]

calls: list[str] = []  # a test begins by clearing it
trip = input_of(Trip)
_KEYS = Provider("p", key_life=600, in_flight=1, visible_after=1)


async def book(call: Call[Trip]) -> Booking:
    calls.append(call.step)
    return Booking(id=call.step)


async def drop(call: Undo[Trip, Booking]) -> None:
    assert call.receipt.id == call.step
    calls.append(f"drop {call.step}")


def step(name: str, **given: Any) -> Step[Trip, Booking]:
    effect = Effect(f"{name}.book", book, provider=_KEYS, retry=Retry(attempts=2))
    undo = Compensation(f"{name}.drop", drop, provider=_KEYS)
    return Step(name, effect, args=trip, compensation=undo, **given)
