"""The real orchestrator on a moving clock, with a seam where it meets the rest of the world.

What is replaced is only what would make one run differ from the next: the writer and sync functions
take their turns on the loop instead of in threads of their own. Database, machine and calls are the
product's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saga.clock import Clock
from saga.definition.calls import Call, Undo
from saga.definition.saga import App
from saga.ids import Ids
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.sqlite import TurnLock, library
from saga.journal.writer import Writer
from saga.orchestrator.caller import Caller
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.lookout import HintsOf
from saga.orchestrator.orchestrator import Orchestrator
from saga.orchestrator.shift import Shift
from saga.orchestrator.threads import Threads
from saga.testing.outside import Fate, NoAnswer
from saga.testing.seam import Crash, Kind, Seam, Strike, name_of
from saga.testing.silence import Silence

__all__ = [
    "LEASE",
    "CountedIds",
    "ExploredCaller",
    "ExploredDatabase",
    "Hooks",
    "InlineThreads",
    "InlineWriter",
    "explored",
]

LEASE = 3600.0
_POLL = 900.0


class CountedIds(Ids):
    """Names that count up."""

    def __init__(self) -> None:
        self._count = 0

    def instance(self) -> str:
        """The same for every database, so that keys are the same in every exploration."""
        return "explored"

    def orchestrator(self) -> str:
        """Never the same again."""
        self._count += 1
        return f"orchestrator-{self._count}"


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is told of a life, and what others do in it.

    `sent`: a call or probe (True) is about to be made. `ended`: with this value or error.
    `durable`: something was committed. `meanwhile`: what a strike lets others do.
    """

    sent: Callable[[Call[Any], bool], None]
    ended: Callable[[Call[Any], bool, Any], None]
    durable: Callable[[], None]
    meanwhile: Callable[[Strike], None]


class ExploredDatabase(Database):
    """A database of which every write transaction is a fault point, while it has a seam."""

    seam: Seam | None = None
    hooks: Hooks | None = None
    _strike: Strike | None = None
    _given: tuple[Any, ...] = ()

    def __init__(self, url: str, keys: Keyring, clock: Clock) -> None:
        super().__init__(url, keys, clock=clock)
        self._turn = _ExploredTurn(self)

    def connection(self) -> Any:
        """As the real one; a process that dies takes its connections along."""
        if self.seam is not None and self.seam.dead:
            raise Crash
        connection = super().connection()
        self._given = (*(one for one in self._given if not one.closed), connection)
        return connection

    def close(self) -> None:
        """Give back all connections, those of the dead too."""
        for connection in self._given:
            if not connection.closed:
                connection.invalidate()
                connection.close()
        self._given = ()
        super().close()

    def arrive(self) -> Strike | None:
        """A write transaction is about to take its turn."""
        if self.seam is None or self.hooks is None:
            return None
        self._strike = self.seam.arrive(Kind.TRANSACTION)
        if self._strike is Strike.BEFORE:
            self.seam.die()
        if self._strike in (
            Strike.CANCELLED,
            Strike.SIGNALLED,
            Strike.OVERTAKEN,
            Strike.CLAIMED,
        ):
            self.hooks.meanwhile(self._strike)
        return self._strike

    def leave(self, strike: Strike | None) -> None:
        """A write transaction has had its turn."""
        if strike in (Strike.NAPS, Strike.OVERSLEPT) and self.hooks is not None:
            self.hooks.meanwhile(strike)

    def commit(self, connection: Any) -> None:
        """As the real one."""
        if self.seam is not None and self._strike is Strike.UNCOMMITTED:
            self.seam.die()
        if self._strike is Strike.REFUSED:
            raise library.OperationalError("explored: the commit failed")
        super().commit(connection)
        if self.seam is not None and self.hooks is not None:
            self.hooks.durable()
            if self._strike is Strike.COMMITTED:
                self.seam.die()
        if self._strike is Strike.DOUBTED:
            raise library.OperationalError("explored: the commit is in doubt")

    def rollback(self, connection: Any) -> None:
        """As the real one; the dead roll nothing back, SQLite does."""
        if self.seam is None or not self.seam.dead:
            super().rollback(connection)


class _ExploredTurn(TurnLock):
    """The turn to write: the one place that every write transaction comes through."""

    def __init__(self, database: ExploredDatabase) -> None:
        super().__init__(Path(database.name), database.clock)
        self._database = database

    @contextmanager
    def held(self) -> Iterator[None]:
        strike = self._database.arrive()
        with super().held():
            yield
        self._database.leave(strike)


class InlineWriter(Writer):
    """The writer on the loop: it writes what is queued in the loop's next turn."""

    _connection: Any = None

    def start(self) -> None:
        """Begin to write."""
        self._connection = self._database.connection()

    def append(self, appends: Any) -> None:
        """As the real one."""
        super().append(appends)
        asyncio.get_running_loop().call_soon(self._take_turn)

    def run(self, job: Callable[[Callable[[], Any]], None]) -> None:
        """As the real one."""
        super().run(job)
        asyncio.get_running_loop().call_soon(self._take_turn)

    def close(self, timeout: float | None = None) -> None:  # noqa: ARG002  as in the base
        """Write what is queued, then end."""
        self._take_turn()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _take_turn(self) -> None:
        seam = getattr(self._database, "seam", None)
        alive = seam is None or not seam.dead
        if alive and self._connection is not None and not self._queue.empty():
            self._serve()


class InlineThreads(Threads):
    """No threads: a sync function is called at once, on the loop."""

    def submit(self, work: Callable[[], None]) -> None:
        """Run it."""
        work()


class ExploredCaller(Caller):
    """A caller of which every call and every probe is a fault point."""

    seam: Seam
    hooks: Hooks
    app: App

    async def _run(
        self,
        function: Callable[[Any], Any],
        call: Any,
        threaded: bool,  # noqa: FBT001  as in the base
        seconds: float,
        overdue: Callable[[], None],
    ) -> Any:
        seam, hooks, probe = self.seam, self.hooks, self._is_probe(function, call)
        strike = seam.arrive(Kind.PROBE if probe else Kind.CALL, name_of(call))
        if strike is Strike.UNSENT:
            seam.die()
        hooks.sent(call, probe)
        if strike in (Strike.CANCELLED, Strike.SIGNALLED):
            hooks.meanwhile(strike)
        seam.announce(call, Fate.LATE if strike is Strike.LATE else Fate.ACT)
        try:
            ended = await super()._run(
                _struck(function, strike, threaded=threaded), call, threaded, seconds, overdue
            )
        finally:
            seam.over(call)
        if seam.dead:
            raise Crash
        hooks.ended(call, probe, ended)
        if strike is Strike.UNRECORDED:
            seam.die()
        return ended

    def _is_probe(self, function: Callable[[Any], Any], call: Call[Any]) -> bool:
        step = self.app.sagas[0].step(call.step)
        contract = step.undo if isinstance(call, Undo) else step.effect
        return contract is not None and contract.probe == function


def _struck(
    function: Callable[[Any], Any], strike: Strike | None, *, threaded: bool
) -> Callable[[Any], Any]:
    """The function with what becomes of its request or its reply."""

    async def lost(_: Any) -> Any:
        raise NoAnswer

    def lost_in_thread(_: Any) -> Any:
        raise NoAnswer

    async def unanswered(call: Any) -> Any:
        with suppress(Exception):  # whatever it is, nobody hears it
            await function(call)
        await asyncio.get_running_loop().create_future()

    def unanswered_in_thread(call: Any) -> Any:
        function(call)
        raise NoAnswer

    if strike is Strike.LOST:
        return lost_in_thread if threaded else lost
    if strike is Strike.UNANSWERED:
        return unanswered_in_thread if threaded else unanswered
    return function


class _Shift(Shift):
    _writer_type: type[Writer] = InlineWriter
    _hints: HintsOf = Silence


class _Orchestrator(Orchestrator):
    def __init__(self, app: App, database: Database, shift: type[Shift], **options: Any) -> None:
        super().__init__(app, f"sqlite:///{database.name}", **options)
        self._given = database
        self._shift_type = shift
        self._lanes = Lanes(InlineThreads(1000))

    def _open(self) -> Database:
        return self._given


def explored(
    app: App, database: ExploredDatabase, seam: Seam, hooks: Hooks, clock: Clock, ids: Ids
) -> Orchestrator:
    """A fresh orchestrator, whose fault points are those of `seam`."""
    database.seam, database.hooks = seam, hooks
    caller = type("_Caller", (ExploredCaller,), {"seam": seam, "hooks": hooks, "app": app})
    shift = type("_Shift", (_Shift,), {"_caller_type": caller})
    return _Orchestrator(app, database, shift, lease=LEASE, poll=_POLL, clock=clock, ids=ids)
