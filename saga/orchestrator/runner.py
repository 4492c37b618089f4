"""The runs that this process holds: what comes in is decided, recorded, and then acted on.

One mailbox a run, at most one record of it under way, in order. What comes in while a record is
being written waits for the next one. No task, queue or lock per run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import TypeVar

from saga.clock import Clock
from saga.journal.append import Append, Hold, build_append
from saga.journal.history import History
from saga.journal.records import RecordTooLarge
from saga.journal.sealing import Keyring
from saga.journal.writer import Failure, Outcome
from saga.machine.commands import Wake, name_of
from saga.orchestrator.advance import Advance, advance
from saga.orchestrator.brake import Brake
from saga.orchestrator.caller import Caller
from saga.orchestrator.compiled import CompiledSaga
from saga.orchestrator.held import Held, held
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.letters import Letter, first, lost, not_made
from saga.orchestrator.timers import Timers

__all__ = ["RELEASE_SECONDS", "Runner"]

RELEASE_SECONDS = 5.0  # a run that has nothing to do for longer is given back
_LONGEST_BACKOFF = 60.0
_log = logging.getLogger("saga")
T = TypeVar("T")


class Runner:
    """Holds runs and moves them. Everything here happens on the event loop.

    `write` hands appends to the writer, `reread` reads a run of ours again after a lost race,
    `orphan` takes what became known about one that we hold no longer; `gone` hears of one less.
    """

    def __init__(
        self,
        owner: str,
        keys: Keyring,
        clock: Clock,
        lanes: Lanes,
        *,
        write: Callable[[Sequence[Append]], None],
        reread: Callable[[Held], None],
        orphan: Callable[[Held, Letter], None],
        gone: Callable[[], None],
    ) -> None:
        self.runs: dict[str, Held] = {}
        self.brake = Brake(lanes)
        lanes.wake = self.touch
        self.released = inf  # the earliest due time of runs given back since it was set so
        self.caller: Caller
        self._owner, self._keys, self._clock = owner, keys, clock
        self._write, self._reread = write, reread
        self._orphan, self._gone = orphan, gone
        self._touched: dict[str, Held] = {}
        self._under_way = 0  # what the writer has to do
        self._timers = Timers(clock, self._ring)
        self._loop = asyncio.get_running_loop()

    # ---- what comes in

    def take(self, saga: CompiledSaga, history: History, fence: int) -> None:
        """A run is ours now. What its last owner had in flight is unknown."""
        run = held(saga, history, fence)
        self.runs[run.run_id] = run
        run.mailbox += lost(run.left_behind)
        self.touch(run)

    def deliver(self, run: Held, letter: Letter) -> None:
        """Something became known about a run; whoever has it must hear of it."""
        if self.runs.get(run.run_id) is not run:
            self._orphan(run, letter)
            return
        run.mailbox.append(letter)
        self.touch(run)

    def touch(self, run: Held) -> None:
        """Look at a run soon, together with all others that are touched until then."""
        if not self._touched:
            self._loop.call_soon(self._flush)
        self._touched[run.run_id] = run

    def touch_all(self) -> None:
        """Look at every run: what holds them may have changed."""
        for run in self.runs.values():
            self.touch(run)

    @property
    def quiet(self) -> bool:
        """Whether nothing waits to be decided or written."""
        return not self._touched and not any(r.writing or r.stale for r in self.runs.values())

    def drop_all(self) -> None:
        """Forget everything: it is not ours any more. What became known of it is brought along."""
        self.caller.cancel_all(threads=False)
        self._timers.clear()
        self._touched.clear()
        while self.runs:
            _, run = self.runs.popitem()
            self.brake.forget(run)
            for letter in [*run.letters, *run.mailbox]:
                self._orphan(run, letter)

    def replace(self, run: Held, history: History | None) -> None:
        """The run as it stands now, or `None` if it is no longer ours."""
        if self.runs.get(run.run_id) is not run:
            return
        run.writing, run.stale = None, False
        letters, run.letters = run.letters, []
        if history is None:
            self._forget(run, [*letters, *run.mailbox])
            return
        run.state, run.version, run.seal = history.state, history.version, history.seal
        run.at, run.due, run.cut_off = history.at, history.due, 0.0
        run.mailbox = [*letters, *run.mailbox, *(not_made(*attempt) for attempt in run.unmade())]
        self.brake.lanes.unmade(run)
        if run.refusals:
            run.again_at = self._clock.now() + min(2.0 ** min(run.refusals, 9), _LONGEST_BACKOFF)
            self._look_at(run, run.again_at)
        else:
            self.touch(run)

    # ---- deciding

    def _flush(self) -> None:
        if self._under_way:
            return  # of two threads that compute, each keeps the other waiting
        touched, self._touched = self._touched, {}
        appends: list[Append] = []
        for run in touched.values():
            if run.writing or run.stale or self.runs.get(run.run_id) is not run:
                continue
            if (append := self._attempted(run)) is not None:
                appends.append(append)
        if appends:
            self._under_way += len(appends)
            self._write(appends)

    def _attempted(self, run: Held) -> Append | None:
        """A bug that one run meets must not stop the others: it is read again, and tried later."""
        try:
            return self._advance(run)
        except Exception as error:  # noqa: BLE001  whatever it is, it is this run's alone
            _log.exception("run %s: what is due could not be decided", run.run_id)
            self._stumbled(run, Failure(error, conflict=False))
            return None
        finally:
            self.brake.lanes.done(run)

    def _advance(self, run: Held) -> Append | None:
        """Decide what is due for one run; the append to write, if anything happened."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        at = max(now, run.at)
        taken = 1 if run.one_by_one else first(run.mailbox)
        letters, run.mailbox = run.mailbox[:taken], run.mailbox[taken:]
        run.letters = letters
        step = advance(run, letters, at, self.brake)
        for key in step.unasked(run) if step.ask else ():
            self.caller.ask(run, key)
        if not step.events and not step.is_due_for_nothing(run):
            run.letters, run.refusals = [], 0
            self._look_at(run, step.due)
            if run.mailbox:
                self.touch(run)
            return None
        try:
            append = self._append(run, step)
        except RecordTooLarge as error:
            if run.one_by_one:
                raise
            _log.warning("run %s: %s; its results are recorded one by one", run.run_id, error)
            run.one_by_one = True
            self.read_again(run)
            return None
        run.writing, run.at = append, at
        run.news, run.more, run.to_ask = step.news(), step.more, sorted(step.begun)
        run.outgoing = step.outgoing(monotonic, self._clock.local(now))
        run.cut_off = min([one.send_by for one in run.outgoing], default=0.0)
        self.brake.lanes.seat(run)
        return append

    def _append(self, run: Held, step: Advance) -> Append:
        far = step.due is None or step.due > step.at + RELEASE_SECONDS or run.state.lacks_turn
        run.leaving = step.idle(run) and far
        return build_append(
            self._keys,
            run.state,
            step.events,
            step.commands or [name_of(Wake(at=step.at))],
            seq=run.version + 1,
            previous=run.seal,
            at=step.at,
            due=step.due,
            hold=Hold(self._owner, run.fence, run.leaving),
        )

    def rests(self, horizon: float) -> bool:
        """Whether no run that we hold has anything in flight, or due before `horizon`."""
        return not self._touched and all(
            not run.busy and (run.look_at is None or run.look_at > horizon or self.brake.holds(run))
            for run in self.runs.values()
        )

    # ---- what has been written

    async def beside(self, work: Awaitable[T]) -> T:
        """Wait for other work of the writer's, and decide nothing meanwhile."""
        self._under_way += 1
        try:
            return await work
        finally:
            self._go_on(1)

    def _go_on(self, done: int) -> None:
        self._under_way -= done
        if self._touched and not self._under_way:
            self._loop.call_soon(self._flush)

    def committed(self, outcome: Outcome) -> None:
        """What became of a batch: start the calls that it made durable, or read again."""
        self._go_on(len(outcome))
        for append, failure in outcome:
            run = self.runs.get(append.run_id)
            if run is None or run.writing is not append:
                continue
            if failure is None:
                self._written(run, append)
            else:
                self._stumbled(run, failure)
        if (waiting := self.brake.suspects.next()) is not None:
            self.touch(waiting)

    def _written(self, run: Held, append: Append) -> None:
        run.writing, run.version, run.seal, run.refusals = None, append.seq, append.seal, 0
        run.due, run.letters = append.due, []
        for line in run.news:
            _log.warning("run %s: %s", run.run_id, line)
        if run.leaving:
            # Others may wait for its turn.
            due = append.due if append.turn is None else run.at
            self.released = min(self.released, inf if due is None else due)
            self._forget(run, run.mailbox)
            return
        for outgoing in run.outgoing:
            self.caller.send(run, outgoing)
        for key in run.to_ask:
            self.caller.ask(run, key)
        run.outgoing, run.to_ask = [], []
        passed = append.due is not None and append.due <= self._clock.now()
        if run.mailbox or run.more or passed:  # the commit may have outlasted a short wait
            self.touch(run)
        else:
            run.one_by_one = False
            self._look_at(run, append.due)

    def _stumbled(self, run: Held, failure: Failure) -> None:
        if failure.conflict:
            run.refusals = 0
            _log.info("run %s has moved on; reading it again", run.run_id)
        else:
            run.refusals, run.refusal = run.refusals + 1, str(failure.error)
            said = run.run_id, run.refusals, run.refusal
            _log.error("run %s could not be recorded (%d times): %s", *said)
        self.read_again(run)

    def read_again(self, run: Held) -> None:
        """What we have in memory is not what is recorded; until it is, nothing is decided on it."""
        if not run.stale:
            run.stale = True
            self._reread(run)

    def _forget(self, run: Held, letters: Sequence[Letter]) -> None:
        del self.runs[run.run_id]
        self._gone()
        self._timers.drop(run.run_id)
        self.brake.forget(run)
        for letter in letters:
            self._orphan(run, letter)

    # ---- time

    def _look_at(self, run: Held, due: float | None) -> None:
        run.look_at = due
        # A call in flight is cut off at its time by itself, and brings the run back here.
        self._timers.set(run.run_id, None if due == run.cut_off else due)

    def _ring(self, run_id: str) -> None:
        if (run := self.runs.get(run_id)) is not None and run.writing is None:
            self.touch(run)
