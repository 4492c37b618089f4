"""A small saga in a ledger world, for the tests of what sagas are tested with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pydantic import BaseModel

from saga import App, Call, Provider, Retry, Saga, Step, Undo, input_of
from saga.client import Client
from saga.testing import World
from saga.testing.moving import MovingClock, run_to_end
from saga.testing.scripted import _Orchestrator

__all__ = ["ROME", "SHOP", "Booking", "Trip", "book", "drop", "ledger_of", "run_trips", "trips"]

SHOP = Provider(
    "shop",
    key_life=timedelta(hours=24),
    in_flight=timedelta(seconds=90),
    visible_after=timedelta(seconds=10),
)


class Trip(BaseModel):
    city: str


class Booking(BaseModel):
    id: str


ROME = Trip(city="Rome")


async def book(call: Call[Trip]) -> Booking:
    return Booking(id=f"{call.step} in {call.args.city}")


def drop(call: Undo[Trip, Booking]) -> None:
    assert call.receipt.id


def trips(
    world: World,
    *,
    provider: Provider = SHOP,
    probe: bool = True,
    keys: bool | None = None,
    names: Sequence[str] = ("hotel", "flight"),
) -> Saga[Trip]:
    wanted, retry = input_of(Trip), Retry(attempts=2)
    steps = [
        Step(
            name,
            world.effect(
                f"{name}.book", book, provider=provider, probe=probe, keys=keys, retry=retry
            ),
            args=wanted,
            compensation=world.compensation(
                f"{name}.drop", drop, provider=provider, probe=probe, keys=keys, retry=retry
            ),
        )
        for name in names
    ]
    return Saga("trip", wanted, steps)


def run_trips(folder: Path, world: World, saga: Saga[Trip], run_id: str = "t1") -> str:
    """Run one trip to its rest on a moving clock; the URL of the database that is left."""
    url = f"sqlite:///{folder / 'trips.db'}"
    clock = MovingClock()
    world.outside.clock = clock
    client = Client(url, clock=clock)
    client.start(saga, ROME, run_id=run_id)

    async def to_rest() -> None:
        async with _Orchestrator(App(saga), url, lease=86_400, clock=clock) as orchestrator:
            for _ in range(10):
                await orchestrator.run_until_idle()
                clock.move(100)

    run_to_end(clock, to_rest)
    client.close()
    return url


def ledger_of(world: World) -> list[str]:
    return [f"{'undo ' if e['of_key'] else ''}{e['step']}" for e in world.ledger]
