"""Runs that are long over, and a clock that is moved by hand: what tests of purging share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    IDEMPOTENT,
    Absent,
    App,
    Call,
    Client,
    Compensation,
    Effect,
    Orchestrator,
    Provider,
    Retry,
    Run,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.journal.database import Database
from saga.testing.laws import check_laws
from tests.databases import Databases
from tests.moved_clock import MovedClock

__all__ = ["DAY", "Archive", "Parcel"]

DAY = timedelta(days=1)


class Parcel(BaseModel):
    address: str
    lost: bool = False


class Sent(BaseModel):
    number: str


class Archive:
    """One database, its client, and an outside that keeps a ledger.

    What is sent can land late for 60 days if it is lost; a key of `keyed` is honoured for 40.
    """

    def __init__(self, databases: Databases) -> None:
        self.databases, self.url, self.clock = databases, databases.fresh(), MovedClock()
        self.client = Client(self.url, clock=self.clock)
        self.ledger: list[dict[str, Any]] = []
        self.calls: list[Any] = []
        post = Provider("post", in_flight=1, visible_after=0.01, late_until=60 * DAY)
        self.plain = self._saga("plain", IDEMPOTENT)
        self.keyed = self._saga("keyed", Provider("keyed", key_life=40 * DAY, in_flight=1))
        self.posted = self._saga("posted", post)

    def meanwhile(self, work: Callable[[], object]) -> None:
        """Do this once, when the product asks what time it is."""
        patch, real = pytest.MonkeyPatch(), Database.now

        def now(database: Database) -> float:
            patch.undo()
            work()
            return real(database)

        patch.setattr(Database, "now", now)

    def start(self, saga: Saga[Parcel], run_id: str, *, lost: bool = False) -> Run:
        return self.client.start(saga, Parcel(address="Rome", lost=lost), run_id=run_id)

    def run(self, saga: Saga[Parcel], *names: str, lost: bool = False) -> None:
        """Start runs and have done what there is to do."""
        for name in names:
            self.start(saga, name, lost=lost)
        self.idle()

    def idle(self) -> None:
        app = App(self.plain, self.keyed, self.posted)
        orchestrator = Orchestrator(app, self.url, poll=0.02, clock=self.clock)
        asyncio.run(orchestrator.run_until_idle())

    def after(self, days: float) -> None:
        self.clock.ahead += days * DAY.total_seconds()

    def ids(self) -> list[str]:
        return [run.id for run in self.client.runs()]

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.databases.query(self.url, sql, *values)

    def left_of(self, run_id: str) -> dict[str, int]:
        """How many rows of a run there are, by table."""
        tables = ("runs", "journal", "actions", "cases", "turns", "tombstones")
        counted = "SELECT count(*) FROM {} WHERE run_id = ?"
        return {name: self.query(counted.format(name), run_id)[0][0] for name in tables}

    def laws_hold(self) -> None:
        assert not check_laws(self.url, self.ledger)
        found = self.client.verify()
        assert found.ok, found.damages

    def _saga(self, name: str, provider: Provider) -> Saga[Parcel]:
        async def send(call: Call[Parcel]) -> Sent:
            self.calls.append(call)
            if call.args.lost:
                raise ConnectionResetError("the answer is lost")
            self._landed(call, None)
            return Sent(number=f"N-{call.run_id}")

        async def find(call: Call[Parcel]) -> Sent | Absent:
            return Absent()

        async def recall(call: Undo[Parcel, Sent]) -> None:
            self._landed(call, call.of_key)

        quick = Retry(attempts=1, first=0.01, longest=0.01, jitter=0, probes=9, resends=0)
        effect = Effect(
            f"{name}.send",
            send,
            probe=find if name == "posted" else None,
            provider=provider,
            retry=quick,
            timeout=0.5,
        )
        undo = Compensation(f"{name}.recall", recall, provider=provider, retry=quick)
        parcel = input_of(Parcel)
        return Saga(name, parcel, [Step("send", effect, args=parcel, compensation=undo)])

    def _landed(self, call: Any, of_key: str | None) -> None:
        self.ledger.append(
            {
                "key": call.key,
                "run_id": call.run_id,
                "step": call.step,
                "of_key": of_key,
                "at": self.clock.now(),
            }
        )
