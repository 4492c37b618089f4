"""The orchestrator: a process that claims runs and moves them.

It lives under an id with a lease and beats while its loop answers; whoever sees no beat for that
long may take its runs. When its own lease ends first, it stops all calls, forgets all runs, and
goes on under a new id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from saga.clock import Clock
from saga.definition.saga import App
from saga.definition.tuning import Duration, seconds
from saga.errors import BadInput, SagaError
from saga.ids import Ids
from saga.journal.database import Database
from saga.orchestrator.compiled import compile_saga
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.shift import Shift
from saga.orchestrator.threads import Threads
from saga.settings import Settings

__all__ = ["Orchestrator"]

_SHORTEST_LEASE = 0.1  # seconds
_IDLE_SECONDS = 60.0  # what is due within this time is waited for by `run_until_idle`
_log = logging.getLogger("saga")


class Orchestrator:
    """Runs the sagas of an app: claims runs, calls their effects, records what became of it.

    `url` is the database (`SAGA_DATABASE_URL`, else `sqlite:///saga.db`); it is made if it does not
    exist. `lease` is the time without a sign of life after which others take over; `grace` the time
    that calls in flight get at the end; `poll` the longest time between two looks at the database
    (`timedelta` or seconds). `threads` bounds the sync functions that run at once,
    `runs_at_once` the runs in memory. Several orchestrators may share a database.

    `await run()` runs until it is stopped, `await run_until_idle()` until nothing is in flight or
    due within a minute; either may be inside `async with`, which opens the lifespan and registers.
    """

    _shift_type: type[Shift] = Shift

    def __init__(
        self,
        app: App,
        url: str | None = None,
        *,
        lease: Duration = timedelta(seconds=15),
        grace: Duration = timedelta(seconds=30),
        poll: Duration = timedelta(seconds=1),
        threads: int = 32,
        runs_at_once: int = 1000,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> None:
        settings = Settings()
        self._app = app
        self._url = url or settings.database_url
        self._keys = settings.keyring()
        self._lease = seconds(lease, "lease")
        if self._lease < _SHORTEST_LEASE:
            least = f"Give at least {_SHORTEST_LEASE:g} s: it beats three times in that"
            raise BadInput(f"lease is {self._lease:g} s", remedy=least)
        self._grace = seconds(grace, "grace", zero=True)
        self._poll = seconds(poll, "poll")
        for name, number in (("threads", threads), ("runs_at_once", runs_at_once)):
            if type(number) is not int or number < 1:
                raise BadInput(f"{name} is {number!r}", remedy="Give a whole number from 1 on")
        self._lanes = Lanes(Threads(threads))
        self._runs_at_once = runs_at_once
        self._clock = clock or Clock()
        self._ids = ids or Ids()
        self._sagas = {saga.digest(): compile_saga(saga) for saga in app.sagas}
        self._stack: AsyncExitStack | None = None
        self._database: Database | None = None
        self._shift: Shift | None = None
        self._resources: tuple[object, ...] = ()
        self._stopping = asyncio.Event()

    @property
    def id(self) -> str:
        """The id under which it is registered now; empty before it is entered."""
        return self._shift.id if self._shift is not None else ""

    @property
    def commits(self) -> int:
        """How many transactions have recorded transitions since it was entered."""
        return self._shift.commits if self._shift is not None else 0

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        try:
            self._database = await asyncio.to_thread(self._open)
            self._stack.callback(self._database.close)
            if self._app.lifespan is not None:
                yielded = await self._stack.enter_async_context(self._app.lifespan())
                self._resources = tuple(yielded)
            await self._begin_shift()
        except BaseException:
            await self._stack.aclose()
            self._stack = None
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._stack is not None
        stack, self._stack = self._stack, None
        self._stopping = asyncio.Event()  # the old one belongs to a loop that may end now
        try:
            if self._shift is not None:
                shift, self._shift = self._shift, None
                await shift.end(self._grace)
        finally:
            await stack.__aexit__(kind, error, traceback)

    def stop(self) -> None:
        """Start nothing new, let what is in flight finish within the grace time, give back all.

        May be called from a signal handler of the loop. `run` returns when that is done.
        """
        self._stopping.set()
        if self._shift is not None:
            self._shift.wake()

    async def run(self) -> None:
        """Run until `stop` or cancellation."""
        await self._entered(self._work_until(lambda: False))

    async def run_until_idle(self) -> None:
        """Run until nothing is in flight and nothing is due within a minute."""
        await self._entered(self._work_until(lambda: self._now().idle(_IDLE_SECONDS)))

    async def _entered(self, work: Any) -> None:
        if self._stack is not None:
            await work
        else:
            try:
                await self.__aenter__()
            except BaseException:
                work.close()
                raise
            async with AsyncExitStack() as stack:
                stack.push_async_exit(self)
                await work

    def _open(self) -> Database:
        return Database(self._url, self._keys, create=True, clock=self._clock, ids=self._ids)

    def _now(self) -> Shift:
        assert self._shift is not None
        return self._shift

    async def _begin_shift(self) -> None:
        assert self._database is not None
        shift = self._shift_type(
            self._ids.orchestrator(),
            self._database,
            self._app,
            self._sagas,
            self._lanes,
            self._resources,
            lease=self._lease,
            runs_at_once=self._runs_at_once,
        )
        try:
            await shift.begin()
        except BaseException:
            shift.over = True  # it has never begun
            await shift.end(0)
            raise
        self._shift = shift

    async def _work_until(self, done: Callable[[], bool]) -> None:
        """Look at the database whenever it is time to, until `done` or stopped."""
        stopping = self._stopping
        stopped = asyncio.create_task(stopping.wait())
        try:
            while not stopping.is_set():
                shift, looked = self._now(), True
                try:
                    await shift.survey()
                except SagaError as error:
                    shift.complain(error)
                    looked = False
                if shift.over:
                    _log.warning("orchestrator %s lost its lease; going on anew", shift.id)
                    await self._begin_anew(stopped)
                    continue
                if looked and done():
                    return
                # With a database that cannot be looked at, being idle is no reason to look again.
                await shift.wait(self._poll, stopping.is_set, *([done] if looked else []))
        finally:
            stopped.cancel()

    async def _begin_anew(self, stopped: asyncio.Task[Any]) -> None:
        """After a lost lease: the database may still be away, and comes back some time."""
        complaint = ""
        while not stopped.done():
            shift, self._shift = self._shift, None
            if shift is not None:
                await shift.end(0)
            try:
                await self._begin_shift()
            except (SagaError, OSError) as error:
                if str(error) != complaint:
                    complaint = str(error)
                    _log.error("cannot register anew: %s", complaint)
                await asyncio.wait([stopped], timeout=self._poll)
            else:
                return
