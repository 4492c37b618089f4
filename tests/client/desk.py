"""A saga whose outside does what each run's input says, and a client beside it.

`plan` maps a step to what its effect does: `land`, `refuse`, `lose` (nobody knows), `down` (not
sent); `undo` does the same for compensations. Every wait is an hour, so that a run stays where the
test wants to look at it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from saga import (
    App,
    Call,
    CannotSay,
    Client,
    Compensation,
    Effect,
    InProgress,
    NotSent,
    Orchestrator,
    Provider,
    Refused,
    Retry,
    Run,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.journal.sqlite import database_path
from saga.testing.laws import check_laws
from tests.databases import Databases

__all__ = ["SLOW", "Desk", "Doing", "Proof", "as_planned"]

HOUR = timedelta(hours=1)
SLOW = Retry(first=HOUR, longest=HOUR, jitter=0.0)


class Doing(BaseModel):
    plan: dict[str, str] = {}
    undo: dict[str, str] = {}
    secret: str = "the-argument-itself"


class Proof(BaseModel):
    number: str


def as_planned(what: str) -> None:
    """Fail in this way, if it is one."""
    match what:
        case "refuse":
            raise Refused("no")
        case "lose":
            raise ConnectionResetError("the answer is lost")
        case "down":
            raise NotSent("nobody there")
        case _:
            return


class Desk:
    """One database, its client, its outside, and an orchestrator on demand."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self.url = databases.fresh()
        self.broken = False  # the test has damaged what is stored, and left it so
        self.client = Client(self.url)
        self.ledger: list[dict[str, Any]] = []
        self.saga = self._saga()

    def start(self, run_id: str, plan: Mapping[str, str] | None = None, **undo: str) -> Run:
        """Start a run that goes as planned."""
        doing = Doing(plan=dict(plan or {}), undo=undo)
        return self.client.start(self.saga, doing, run_id=run_id)

    def run(self, run_id: str, plan: Mapping[str, str] | None = None, **undo: str) -> Run:
        """The same, and let an orchestrator do what there is to do."""
        self.start(run_id, plan, **undo)
        self.idle()
        return self.client.show(run_id)

    def idle(self) -> None:
        asyncio.run(Orchestrator(App(self.saga), self.url, poll=0.02).run_until_idle())

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """What somebody does who has the file; the rows that come back."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def rules(self, run_id: str) -> list[str]:
        return [hold.rule for hold in self.client.why(run_id).holds]

    @property
    def database(self) -> Path:
        """Its file, where it is one."""
        return database_path(self.url)

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the database, past everything that the product does."""
        return self._databases.query(self.url, sql, *values)

    def laws_hold(self) -> None:
        if self.broken or (self._databases.kind == "sqlite" and not self.database.exists()):
            return
        assert not check_laws(self.url, self.ledger)

    def _saga(self) -> Saga[Doing]:
        doing = input_of(Doing)
        keyed = Provider("keyed", key_life=timedelta(days=1), in_flight=10, visible_after=10)
        asked = Provider("asked", in_flight=10, visible_after=10)
        bounded = Provider("bounded", in_flight=HOUR)
        return Saga(
            "desk",
            doing,
            [
                self._step(doing, "plain", Provider("plain")),
                self._step(doing, "keyed", keyed),
                self._step(doing, "asked", asked, probe=True),
                self._step(doing, "bounded", bounded),
            ],
        )

    def _step(
        self, doing: Doing, name: str, provider: Provider, *, probe: bool = False
    ) -> Step[Doing, Proof]:
        async def do(call: Call[Doing]) -> Proof:
            as_planned(call.args.plan.get(name, "land"))
            self._landed(call, None)
            return Proof(number=f"N-{call.step}")

        async def undo(call: Undo[Doing, Proof | None]) -> None:
            as_planned(call.args.undo.get(name, "land"))
            self._landed(call, call.of_key)

        async def find(call: Call[Doing]) -> Proof | InProgress | CannotSay:
            return InProgress()

        effect = Effect(
            f"{name}.do",
            do,
            probe=find if probe else None,
            provider=provider,
            retry=SLOW,
            timeout=20,
        )
        compensation = Compensation(f"{name}.undo", undo, provider=provider, retry=SLOW)
        return Step(name, effect, args=doing, compensation=compensation)

    def _landed(self, call: Any, of_key: str | None) -> None:
        self.ledger.append(
            {
                "key": call.key,
                "run_id": call.run_id,
                "step": call.step,
                "of_key": of_key,
                "at": time.time(),
            }
        )
