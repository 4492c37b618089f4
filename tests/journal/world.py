"""A database with one run of every kind that is worth altering, made by the real orchestrator.

`finished` completed, `undone` compensated, `running` waits an hour for its next attempt, `stuck` is
being undone and has an open case, `settled` ended by a person's verdict. They are all of one saga;
`bystander` is a run of another one, started and not yet served. Of `PURGED` there are tombstones.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from saga import (
    App,
    Call,
    Compensation,
    Effect,
    NothingToUndo,
    NotSent,
    Provider,
    Refused,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
)
from saga.client import Client
from saga.clock import Clock
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.orchestrator.orchestrator import Orchestrator
from tests.moved_clock import MovedClock

__all__ = [
    "BYSTANDER",
    "KEY",
    "MINUTE",
    "PURGED",
    "RUNS",
    "SECOND_KEY",
    "Outside",
    "build",
    "keyed",
    "nested",
    "opened",
    "other",
    "serve",
    "trip",
    "versions",
]

MINUTE = 60.0
KEY = "k1:" + base64.b64encode(bytes(range(32))).decode()
SECOND_KEY = "k2:" + base64.b64encode(bytes(range(32, 64))).decode()
PURGED = ("gone", "gone-too", "long-gone")
RUNS = ("finished", "undone", "running", "stuck", "settled")
BYSTANDER = "bystander"


class Outside:
    """What has been called, in order: (run, step, direction)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.generous = False  # whoever was turned down is served now

    def of(self, run_id: str) -> list[tuple[str, str, str]]:
        return [call for call in self.calls if call[0] == run_id]


class Trip(BaseModel):
    id: str
    mode: str
    note: str = ""


class Booking(BaseModel):
    trip: str
    mode: str


class Ticket(BaseModel):
    number: int
    name: str


def _outside(call: Any) -> Outside:
    outside: Outside = call.resource(Outside)
    outside.calls.append((call.run_id, call.step, "undo" if isinstance(call, Undo) else "forward"))
    return outside


async def _book(call: Call[Booking]) -> Ticket:
    _outside(call)
    return Ticket(number=2**53 + 1, name="Ä\n")


async def _rent(call: Call[Booking]) -> Ticket:
    outside = _outside(call)
    if not outside.generous:
        if call.args.mode == "later":
            raise NotSent("come back", retry_after=timedelta(hours=1))
        if call.args.mode != "fine":
            raise Refused("no cars")
    return Ticket(number=3, name="car")


async def _cancel(call: Undo[Booking, Ticket]) -> None:
    _outside(call)


async def _cancel_hotel(call: Undo[Booking, Ticket]) -> None:
    outside = _outside(call)
    if call.args.mode in ("stuck", "settled") and not outside.generous:
        raise Refused("too late")


shop = Provider("shop", key_life=timedelta(hours=24), in_flight=timedelta(seconds=1))
_trip = input_of(Trip)
_args = bind(Booking)(trip=_trip.id, mode=_trip.mode)
trip = Saga(
    "trip",
    _trip,
    [
        Step(
            "flight",
            Effect("air.book", _book, provider=shop),
            compensation=Compensation("air.cancel", _cancel, provider=shop),
            args=_args,
        ),
        Step(
            "hotel",
            Effect("hotel.book", _book, provider=shop),
            compensation=Compensation("hotel.cancel", _cancel_hotel, provider=shop),
            args=_args,
        ),
        Step(
            "car",
            Effect("car.rent", _rent, provider=shop),
            compensation=Compensation("car.return", _cancel, provider=shop),
            args=_args,
        ),
    ],
)
other = Saga(
    "other",
    _trip,
    [Step("only", Effect("air.look", _book), compensation=NothingToUndo("reads"), args=_args)],
)


@contextmanager
def keyed(text: str | None) -> Iterator[None]:
    """`SAGA_KEYS` for whatever is constructed inside."""
    before = os.environ.get("SAGA_KEYS")
    _set(text)
    try:
        yield
    finally:
        _set(before)


def _set(text: str | None) -> None:
    if text is None:
        os.environ.pop("SAGA_KEYS", None)
    else:
        os.environ["SAGA_KEYS"] = text


def serve(url: str, outside: Outside, clock: Clock, *sagas: Saga[Any]) -> None:
    """Run an orchestrator until nothing is due."""

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Sequence[object]]:
        yield [outside]

    async def work() -> None:
        app = App(*(sagas or (trip, other)), lifespan=lifespan)
        await Orchestrator(app, url, clock=clock, poll=0.01).run_until_idle()

    asyncio.run(work())


def build(url: str, keys: str | None = KEY) -> str:
    """Make the database."""
    outside, clock = Outside(), MovedClock()
    with keyed(keys):
        client = Client(url, clock=clock)
        _purge(client, url, outside, clock)
        modes = {"finished": "fine", "running": "later"}
        for run_id in RUNS:
            client.start(
                trip,
                Trip(id=f"t-{run_id}", mode=modes.get(run_id, run_id), note="é\\u0000"),
                run_id=run_id,
                actor="alice",
            )
        serve(url, outside, clock)
        clock.ahead = MINUTE
        for case in client.cases():
            if case.run_id == "settled":
                client.resolve(case.id, "accept", reason="they may keep it", actor="bob")
        serve(url, outside, clock)
        client.start(other, Trip(id="b", mode="fine"), run_id=BYSTANDER)
        client.close()
    return url


def _purge(client: Client, url: str, outside: Outside, clock: MovedClock) -> None:
    """Runs that ended a month ago, and went."""
    clock.ahead = -31 * 24 * 60 * MINUTE
    for run_id in PURGED:
        client.start(trip, Trip(id=f"t-{run_id}", mode="fine"), run_id=run_id)
    serve(url, outside, clock)
    clock.ahead = 0.0
    assert client.purge(timedelta(days=30)).runs == len(PURGED)


def nested(depth: int) -> Any:
    """A plain value of so many levels."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def opened(url: str, keys: str | None = KEY) -> Database:
    """The database, opened for tests."""
    return Database(url, Keyring.parse(keys or ""))


def versions(database: Database) -> dict[str, int]:
    """How many records each run has."""
    select = "SELECT run_id, version FROM runs"
    return dict(database.read(lambda c: [tuple(row) for row in c.exec_driver_sql(select)]))
