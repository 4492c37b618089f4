"""One life of an orchestrator under one id: its writer, its runs, its membership.

A shift begins with a registration and ends with a lost lease or a stop. It asks the database about
everything in one short transaction, on the writer's thread; `survey` says what.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from saga.definition.saga import App
from saga.errors import SagaError
from saga.journal.database import Database
from saga.journal.definitions import Specs, store_definition
from saga.journal.writer import Writer
from saga.orchestrator.background import Background
from saga.orchestrator.caller import Caller
from saga.orchestrator.compiled import CompiledSaga
from saga.orchestrator.complaint import Complaint
from saga.orchestrator.errands import Errands
from saga.orchestrator.held import Held
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.letters import Letter
from saga.orchestrator.lookout import HintsOf, Lookout
from saga.orchestrator.membership import Membership
from saga.orchestrator.refusals import refused_records
from saga.orchestrator.reports import as_report, bring
from saga.orchestrator.room import Room
from saga.orchestrator.rounds import Round
from saga.orchestrator.runner import Runner
from saga.orchestrator.survey import look, look_again, outdated
from saga.orchestrator.turns import Turns

__all__ = ["Shift"]

_SETTLE_SECONDS = 2.0
_log = logging.getLogger("saga")


class Shift:
    """See the module. All methods are for the event loop."""

    _writer_type: type[Writer] = Writer
    _caller_type: type[Caller] = Caller
    _hints: HintsOf = staticmethod(lambda database: database.backend.hints(database.clock))

    def __init__(
        self,
        id_: str,
        database: Database,
        app: App,
        sagas: Mapping[str, CompiledSaga],
        lanes: Lanes,
        resources: tuple[object, ...],
        *,
        lease: float,
        runs_at_once: int,
    ) -> None:
        self.id, self.over = id_, False  # over: the lease is lost
        self._database, self._app, self._sagas = database, app, sagas
        self._specs = {digest: saga.spec for digest, saga in sagas.items()}
        self._clock = clock = database.clock
        self._membership = Membership(database, id_, lease, clock, self._lost)
        self._errands = Errands(database)
        self._writer = self._errands.writer = self._writer_type(
            database, lambda outcome: self._errands.call_soon(self._runner.committed, outcome)
        )
        self._lookout = Lookout(self._hints(database), clock, self._errands.run)
        self._round = Round(database, self._specs)
        self._turns = Turns(clock, self._specs)
        self._runner = Runner(
            id_,
            database.keys,
            clock,
            lanes,
            write=self._writer.append,
            reread=self._reread,
            orphan=self._orphan,
            gone=self._gone,
        )
        self._runner.caller = self._caller_type(
            clock, lanes, resources, self._runner.deliver, lambda: self._membership.holds
        )
        self._room = Room(runs_at_once, self._runner.runs, self._runner.brake, lease)
        self._background = Background()
        self._skip: set[str] = set()  # runs that we cannot run: a newer version has written them
        self._next_due: float | None = None
        self._looked_at = 0.0  # unix seconds
        self._complaint, self._unread = Complaint(id_), Complaint(id_)

    @property
    def commits(self) -> int:
        """How many transactions have recorded transitions."""
        return self._writer.commits

    async def begin(self) -> None:
        """Register and store our definitions; from then on we may claim."""
        self._writer.start()

        def register(connection: Any) -> None:
            keys, now = self._database.keys, self._database.now()
            # In the order that all others have, or two that begin at once wait for each other.
            for saga in sorted(self._app.sagas, key=lambda one: (one.name, one.version)):
                store_definition(connection, keys, saga.machine_spec, saga.stored_text, now)
            self._membership.register(
                connection, [(saga.name, saga.version) for saga in self._app.sagas]
            )

        await asyncio.to_thread(self._database.write, register)  # others may begin just now
        await self._lookout.begin()
        self._membership.renewed()

    async def end(self, grace: float) -> None:
        """Finish what is in flight within `grace` seconds, give back the rest, be gone."""
        runner, caller = self._runner, self._runner.caller
        runner.brake.stopping = True  # from here on nobody asks the writer but we: it will be gone
        try:
            if not self.over:
                await self._errands.write(self._membership.leave)
                await self._drain(grace)
                caller.cancel_all()
                await caller.settled(1.0)
                await self._settle(_SETTLE_SECONDS)
                for key in [key for run in runner.runs.values() for key, _ in run.calls]:
                    _log.warning("%s: its function has not returned, and is left behind", key)
            runner.drop_all()
            if not self.over:
                await self._errands.write(self._membership.release_all)
        except SagaError as error:
            self.complain(error)
        finally:
            runner.drop_all()
            if not self.over:  # after a lost lease nobody waits for reports here
                caller.cancel_all()
                await self._background.end(_SETTLE_SECONDS)
            self._membership.close()
            await asyncio.to_thread(self._writer.close, 5.0)
            self._lookout.close()

    async def _drain(self, grace: float) -> None:
        """Let what is in flight finish; the beat goes on, or others would take it for lost."""
        until = self._clock.monotonic() + grace
        while self._runner.caller.busy and not self.over:
            left = until - self._clock.monotonic()
            if left <= 0:
                return
            await self._runner.caller.settled(min(left, self._membership.lease / 4))
            try:
                await self.survey()
            except SagaError as error:
                self.complain(error)

    async def _settle(self, within: float) -> None:
        """Let what has been delivered be decided and written."""
        until = self._clock.monotonic() + within
        while not self._runner.quiet and self._clock.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    # ---- looking at the database

    async def survey(self) -> None:
        """Beat if it is time, bury the dead, claim, and take note of what others did."""
        beating, began = self._membership.beat_is_due, self._clock.monotonic()
        self._turns.freed |= self._runner.released <= self._clock.now()
        room, self._runner.released = self._room.left, inf
        settling = not room
        room, stuck = room or self._room.spare, self._runner.caller.stuck
        refused = refused_records(self._runner.runs.values())  # here: a lost lease empties them
        work = self._errands.write(
            lambda connection: look(
                connection,
                self._database,
                self._membership,
                self._specs,
                beat=beating,
                stuck=stuck,
                refused=refused,
                room=room,
                circle=self._room.circle,
                settling=settling,
                held=self._runner.runs,
                skip=self._skip,
                watch=self._round,
                turns=self._turns,
            )
        )
        survey = await self._runner.beside(work)
        self._lookout.looked(began)
        self._complaint.over()
        if not survey.alive or not self._membership.holds:
            self._lost()
            return
        if beating:
            self._membership.renewed()
        self._skip.update(survey.takeup.unable)
        self._room.took(len(survey.takeup.taken), survey.seconds)
        self._room.inheriting = any(taken.taken_over for taken in survey.takeup.taken)
        for taken in survey.takeup.taken:
            saga = self._sagas[taken.history.state.definition]
            self._runner.take(saga, taken.history, taken.fence)
        for run in outdated(self._runner.runs, survey.moved):
            self._runner.read_again(run)
        if survey.paused != self._runner.brake.paused:
            self._runner.brake.paused = survey.paused
            self._runner.touch_all()
        self._next_due, self._looked_at = survey.next_due, survey.at

    async def wait(self, poll: float, *ends: Callable[[], bool]) -> None:
        """Until the poll or a due time, room for runs that wait, a hint of a write, or an end."""
        due, until = self._due(), self._clock.monotonic() + min(poll, self._membership.lease / 4)
        until = min(until, self._membership.verdict_at)
        if due > self._looked_at:
            until = min(until, self._when(due))
        if not self._room.inheriting:
            await asyncio.sleep(0)  # what has been claimed is looked at before anything else
        while not self.over and (left := until - self._clock.monotonic()) > 0:
            if any(end() for end in ends) or self._room.worthwhile:
                return
            if due != self._due():
                due = self._due()
                until = min(until, self._when(due))
                continue
            nothing = not self._runner.runs and not self._background
            worth = await self._lookout.nap(left, eager=nothing)
            if worth and not self._runner.brake.stopping and await self._lookout.others_wrote():
                return

    def wake(self) -> None:
        """Look at once at whether it is time to end."""
        self._lookout.wake()

    def _gone(self) -> None:
        """A run less is held; others may have waited for its place, or for its turn."""
        turn = self._runner.released <= self._clock.now()
        if turn or not self._runner.runs or self._room.worthwhile:
            self.wake()

    def _due(self) -> float:
        """The earliest due time of a run that nobody has, as far as we know."""
        return min(self._runner.released, inf if self._next_due is None else self._next_due)

    def _when(self, due: float) -> float:
        """The same moment on our monotonic clock."""
        return self._clock.monotonic() + due - self._clock.now()

    def idle(self, within: float) -> bool:
        """Nothing is in flight, and nothing due within so many seconds."""
        horizon = self._clock.now() + within
        return (
            not self._runner.caller.busy
            and not self._background
            and not self._room.circle.crowded
            and self._due() > horizon
            and self._runner.rests(horizon)
        )

    def complain(self, error: Exception) -> None:
        """Log a failing database once, not at every look; without it the lease runs out."""
        self._room.circle.crowded = False  # nobody knows, and it is no reason to look again at once
        if not self._membership.holds and not self.over:
            self._lost()
        self._complaint.about(error)

    # ---- between the loop and the writer's thread

    def _lost(self) -> None:
        self.over = True
        self.wake()
        self._runner.drop_all()

    def _reread(self, run: Held) -> None:
        """Read a run again, after a lost race or when somebody else has appended to it."""
        if self._runner.runs.get(run.run_id) is run:
            self._background.start(self._reread_now(run))

    async def _reread_now(self, run: Held) -> None:
        try:
            history = await self._errands.write(
                lambda connection: look_again(
                    connection, self._database, self.id, self._specs, run, self._skip
                )
            )
        except Exception as error:  # noqa: BLE001  whatever it is, it is tried again
            self._unread.about(error)
            asyncio.get_running_loop().call_later(1.0, self._reread, run)
            return
        self._runner.replace(run, history)

    def _orphan(self, run: Held, letter: Letter) -> None:
        """Bring what we know about a run that is no longer ours; only proof counts."""
        report = as_report(run, letter.command(self._clock.now()))
        if report is not None:
            specs = Specs(self._database.keys, self._specs)
            self._background.start(bring(self._database, specs, run.run_id, report))
