"""An observer beside the orchestrator: at every call and every commit it checks the laws.

It has a connection of its own and so sees only what is durable. Laws that an end state cannot show
are checked here: that the intent was on disk before the call, under the key and with the arguments
of the call; that the caller still owned the run; that nothing was undone while something after it
was unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic_core import to_jsonable_python

from saga.definition.answers import Absent
from saga.definition.calls import Call, Undo
from saga.definition.spec import SagaSpec
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.records import NewerFormat, Record, read_record, verify_record
from saga.journal.watching import Seen, SeenRecord, heads, records_from
from saga.machine.action_events import Absent as AbsentRecorded
from saga.machine.action_events import NotSent, Probed, Refused, Sending
from saga.machine.events import Event
from saga.machine.evolve import evolve
from saga.machine.state import Action, RunState, new_state
from saga.testing.outside import NoAnswer
from saga.testing.violation import Violation

__all__ = ["Observer", "Watched", "successors", "unknown_after"]

_read = lru_cache(maxsize=8192)(read_record)  # the same text is read again after every restart


@dataclass(slots=True)
class Watched:
    """A run as far as it has been seen. `fences`: of each sending, by key and attempt."""

    head: Seen
    state: RunState
    version: int = 0
    seal: str = ""
    fence: int = 0  # of the last record of an owner
    fences: dict[tuple[str, int], int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)  # of the records new at the last look


class Observer:
    """Keeps what it found in `violations`, in the order in which it was seen."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], float],
        specs: Mapping[str, SagaSpec] | None = None,
    ) -> None:
        self.violations: list[Violation] = []
        self.runs: dict[str, Watched] = {}
        self._database = database
        self._now = now
        self._specs = Specs(database.keys, specs)
        self._connection: Any = None
        self._heard: dict[tuple[str, int], str] = {}

    def forget(self) -> None:
        """The database has been replaced: look at all of it anew."""
        self.runs.clear()
        self._heard.clear()
        self.violations = []
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def look(self, run_id: str | None = None) -> None:
        """See what is durable by now, of one run or of all."""
        # Outside any transaction: each statement sees what is durable when it is made.
        if self._connection is None:
            self._connection = self._database.connection()
        self._look(self._connection, run_id)

    def at_call(self, call: Call[Any], *, probe: bool = False) -> None:
        """Somebody is about to make `call`, or to probe what became of it."""
        self.look(call.run_id)
        run = self.runs.get(call.run_id)
        action = None if run is None else run.state.actions.get(call.key)
        what = f"{'the probe' if probe else f'attempt {call.attempt}'} of {call.key}"
        if run is None or action is None:
            self._found(1, call.run_id, f"{what} without a durable intent")
            return
        self._same(run.state, action, call, what)
        if probe:
            if action.attempts < 1:
                self._found(1, call.run_id, f"{what}, which was never sent")
            return
        attempt = action.open.get(call.attempt)
        if attempt is None or not attempt.in_flight:
            self._found(1, call.run_id, f"{what} without a durable sending")
        elif self._now() > attempt.send_by:
            self._found(1, call.run_id, f"{what} begins after its send_by")
        if run.fences.get((call.key, call.attempt), run.head.fence) != run.head.fence:
            self._found(6, call.run_id, f"{what} by an owner whose fence is no longer current")
        elif run.head.lives is not True:
            self._found(6, call.run_id, f"{what} by nobody: the run has no live owner")
        if action.of_key is not None:
            self._undoing(run.state, action, what)

    def heard(
        self, call: Call[Any], value: object, error: BaseException | None, *, probe: bool
    ) -> None:
        """What a call or a probe has come to, before anybody has looked at it."""
        if probe:
            answer = "absent" if error is None and isinstance(value, Absent) else "no absence"
            self._heard[call.key, 0] = answer
        elif isinstance(error, NoAnswer):
            self._heard[call.key, call.attempt] = "silence"

    def at_commit(self, owner: str) -> bool:
        """The orchestrator `owner` has committed something; whether a record was in it."""
        before = {run_id: run.version for run_id, run in self.runs.items()}
        self.look()
        new = [run for id_, run in self.runs.items() if run.version != before.get(id_)]
        for run in new:
            for event in run.events:
                self._is_what_was_heard(run.head.run_id, event)
            stale = run.fence != run.head.fence or run.head.owner not in (owner, None)
            if run.fence and run.head.run_id in before and stale:
                text = f"record {run.version} is by an owner whose fence is not current"
                self._found(6, run.head.run_id, text)
        return bool(new)

    # ---- inside

    def _is_what_was_heard(self, run_id: str, event: Event) -> None:
        if isinstance(event, Refused | NotSent):
            if self._heard.get((event.key, event.attempt)) == "silence":
                text = f"attempt {event.attempt} of {event.key} is recorded as {event.kind}"
                self._found(12, run_id, f"{text}, and nobody has answered it")
        elif (isinstance(event, Probed) and event.answer == "absent") or (
            isinstance(event, AbsentRecorded) and event.source == "probe"
        ):
            self._check_absence(run_id, event.key)

    def _check_absence(self, run_id: str, key: str) -> None:
        if self._heard.get((key, 0), "absent") != "absent":
            self._found(12, run_id, f"{key} is recorded as absent, and nobody said so")

    def _found(self, law: int, run_id: str, detail: str) -> None:
        self.violations.append(Violation(law, run_id, detail))

    def _look(self, connection: Any, run_id: str | None) -> None:
        for head in heads(connection, run_id):
            run = self.runs.get(head.run_id)
            if run is None:
                spec = self._specs.get(connection, head.definition)
                run = self.runs[head.run_id] = Watched(head, new_state(spec))
            run.head, run.events = head, []
            # The last known record is read again: it must still be what it was. What was written
            # after the head was read is for the next look.
            found = records_from(connection, head.run_id, max(run.version, 1))
            self._follow(run, [record for record in found if record.seq <= head.version])

    def _follow(self, run: Watched, records: Sequence[SeenRecord]) -> None:
        run_id, keys = run.head.run_id, self._database.keys
        if run.version:
            if not records or (records[0].seq, records[0].seal) != (run.version, run.seal):
                self._found(5, run_id, f"record {run.version} is not what it was")
                return
            records = records[1:]
        for record in records:
            if record.seq != run.version + 1:
                self._found(5, run_id, f"record {record.seq} follows record {run.version}")
                return
            if not verify_record(
                keys, record.key_id, record.seal, run.seal, run_id, record.seq, record.body
            ):
                self._found(14, run_id, f"the seal of record {record.seq} does not verify")
                return
            try:
                self._apply(run, _read(record.body))
            except (ValueError, NewerFormat) as error:
                self._found(14, run_id, f"record {record.seq} cannot be read: {error}")
                return
            run.version, run.seal = record.seq, record.seal
        if run.version != run.head.version:
            self._found(5, run_id, f"version {run.head.version} with record {run.version}")

    @staticmethod
    def _apply(run: Watched, record: Record) -> None:
        run.events += record.events
        for event in record.events:
            evolve(run.state, event, record.at)
            if isinstance(event, Sending):
                run.fences[event.key, event.attempt] = event.fence
        run.fence = record.fence

    def _same(self, state: RunState, action: Action, call: Call[Any], what: str) -> None:
        """The call says what the intent says."""
        if call.digest != action.digest or to_jsonable_python(call.args) != action.args:
            self._found(1, call.run_id, f"{what} with other arguments than its intent's")
        of_key = call.of_key if isinstance(call, Undo) else None
        if of_key != action.of_key:
            self._found(1, call.run_id, f"{what} takes back {of_key}, its intent {action.of_key}")
        elif isinstance(call, Undo):
            of = state.actions[call.of_key]
            receipt = of.receipt if of.state == "landed" else None
            if to_jsonable_python(call.receipt) != receipt:
                self._found(1, call.run_id, f"{what} with a receipt that is not that of {of_key}")

    def _undoing(self, state: RunState, action: Action, what: str) -> None:
        of = state.actions[action.of_key or ""]
        if of.superseded:
            return  # its undo waits for nobody
        for name, later in unknown_after(state, of.step):
            self._found(9, state.run_id, f"{what} while {name} ({later}) is not settled")


def successors(state: RunState, step: int) -> list[int]:
    """The steps that follow a step, directly or not."""
    found: list[int] = []
    behind = list(state.steps[step].before)
    while behind:
        index = behind.pop()
        if index not in found:
            found.append(index)
            behind += state.steps[index].before
    return found


def unknown_after(state: RunState, step: int) -> list[tuple[str, str]]:
    """The transitive successors of a step that are unknown or in flight: name and state."""
    return [
        (state.steps[index].name, action.state)
        for index in successors(state, step)
        for action in state.progress[index].newest.values()
        if action.state in ("sending", "unknown")
    ]
