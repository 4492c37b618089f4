"""The laws that only the outside can show: what landed, against what the journal says of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from saga.definition.spec import SagaSpec
from saga.journal.records import Record
from saga.machine.action_events import Absent, Intended, Landed
from saga.machine.events import Event
from saga.machine.forward import is_on_path
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.machine.ways import contract_of
from saga.testing.observer import successors
from saga.testing.recorded import Finding

__all__ = ["Landing", "landed_laws", "read_ledger"]

_SECOND = 1.0  # a ledger may keep whole seconds


@dataclass(frozen=True, slots=True)
class Landing:
    """One entry of a ledger. `place` is its position in landing order."""

    place: int
    key: str
    run_id: str
    step: str
    of_key: str | None
    at: float | None


@dataclass(slots=True)
class _Run:
    """A run with what landed of it."""

    spec: SagaSpec
    state: RunState
    landings: Sequence[Landing]
    rests: bool
    intended: dict[str, float] = field(default_factory=dict)
    proven: set[str] = field(default_factory=set)  # landed by a reply or a probe, as recorded
    absent: set[str] = field(default_factory=set)  # proven so: what lands after that is law 3's
    judged: set[str] = field(default_factory=set)  # a person has given a verdict on it
    _by_key: dict[str, Landing] = field(default_factory=dict)
    _undos: dict[str, Landing] = field(default_factory=dict)

    def note(self, event: Event, at: float) -> None:
        """What the journal says of an action, for the laws below."""
        if isinstance(event, Intended):
            self.intended[event.key] = at
        elif isinstance(event, Absent):
            self.absent.add(event.key)
        elif isinstance(event, Landed) and event.source in ("reply", "probe"):
            self.proven.add(event.key)

    def __post_init__(self) -> None:
        for one in self.landings:
            self._by_key.setdefault(one.key, one)
            if one.of_key is not None:
                self._undos.setdefault(one.of_key, one)

    def landing(self, key: str) -> Landing | None:
        """The first landing under a key."""
        return self._by_key.get(key)

    def undo_of(self, key: str) -> Landing | None:
        """The first undo of what landed under a key."""
        return self._undos.get(key)


def read_ledger(ledger: Sequence[Mapping[str, Any]]) -> list[Landing]:
    """A ledger as it is given: `{key, run_id, step, of_key, at}`, in landing order."""
    return [
        Landing(
            place=place,
            key=entry["key"],
            run_id=entry["run_id"],
            step=entry["step"],
            of_key=entry.get("of_key"),
            at=_seconds(entry.get("at")),
        )
        for place, entry in enumerate(ledger)
    ]


def _seconds(at: object) -> float | None:
    if isinstance(at, str):
        at = datetime.fromisoformat(at)
    if isinstance(at, datetime):
        return at.timestamp() if at.tzinfo is not None else None
    return float(at) if isinstance(at, int | float) else None


def landed_laws(
    spec: SagaSpec,
    state: RunState,
    records: Sequence[Record],
    landings: Sequence[Landing],
    *,
    rests: bool,
) -> Iterator[Finding]:
    """What the landings of one run break. `rests`: nothing happens to it by itself any more."""
    run = _Run(spec, state, landings, rests)
    for record in records:
        for event in record.events:
            run.note(event, record.at)
    for case in state.cases.values():
        if case.verdict is not None:
            run.judged.add(case.key)
    for one in landings:
        yield from _known(run, one)
    yield from _once(run)
    yield from _generations(run)
    for one in landings:
        if (action := state.actions.get(one.key)) is not None:
            yield from _accounted(run, one, action)
    yield from _order(run)
    yield from _really(run)


def _known(run: _Run, one: Landing) -> Iterator[Finding]:
    """Law 1: it was intended, under this key, for this."""
    action = run.state.actions.get(one.key)
    if action is None or action.attempts < 1:
        yield 1, f"{one.key} landed without {'an intent' if action is None else 'a sending'}"
        return
    if (step_of(run.state.steps, action).name, action.of_key) != (one.step, one.of_key):
        yield 1, f"{one.key} landed for {one.step} of {one.of_key}, which is not its intent"
    if one.at is not None and one.at < run.intended[one.key] - _SECOND:
        yield 1, f"{one.key} landed before its intent was recorded"


def _once(run: _Run) -> Iterator[Finding]:
    """Law 2, first half. Where keys mean nothing, a second one must be before a person."""
    times = Counter(one.key for one in run.landings)
    for key, count in times.items():
        action = run.state.actions.get(key)
        if action is None or count == 1:
            continue
        if count > action.attempts:
            yield 1, f"{key} has landed {count} times, and was sent {action.attempts} times"
        honours = contract_of(run.spec, action).provider.honours_keys
        if honours or not _with_a_person(run, action):
            yield 2, f"{key} has landed {count} times"


def _with_a_person(run: _Run, action: Action) -> bool:
    return action.case is not None or action.key in run.judged or action.state == "accepted"


def _generations(run: _Run) -> Iterator[Finding]:
    """Law 2, second half: of the generations of an action one has landed, but for the proven."""
    lines: dict[tuple[int, str | None, str | None], list[Action]] = {}
    for key in dict.fromkeys(one.key for one in run.landings):
        if (action := run.state.actions.get(key)) is not None:
            lines.setdefault((action.step, action.item, action.of_key), []).append(action)
    for line in lines.values():
        if len(line) == 1 or any(_with_a_person(run, action) for action in line):
            continue
        *older, newest = sorted(line, key=lambda action: action.generation)
        free = step_of(run.spec.steps, newest).undo == "nothing" or not run.rests
        for action in older:
            undo = run.state.undo_of(action)
            if undo is not None and _with_a_person(run, undo):
                continue
            if not free and run.undo_of(action.key) is None:
                yield 2, f"{action.key} and {newest.key} have both landed"


def _accounted(run: _Run, one: Landing, action: Action) -> Iterator[Finding]:
    """Law 3, for one landing."""
    if _with_a_person(run, action):
        return
    if action.state == "landed":
        if action.direction == FORWARD and run.state.phase == "ended":
            yield from _undone(run, one, action)
        return
    undo = run.undo_of(one.key)
    if undo is not None and undo.place > one.place:
        return
    if run.rests and (run.state.phase == "ended" or action.key not in run.state.active):
        yield 3, f"{one.key} has landed and is recorded as {action.state}"
    elif run.rests and not run.state.open_cases:
        yield 3, f"{one.key} has landed and nobody looks after it ({action.state})"


def _undone(run: _Run, one: Landing, action: Action) -> Iterator[Finding]:
    here = is_on_path(run.state, run.state.steps[action.step])
    kept = run.state.outcome == "completed" and not action.late and here
    if kept or step_of(run.spec.steps, action).undo == "nothing":
        return
    if action.late and not run.rests:
        return  # its undo is on the way
    undo = run.state.undo_of(action)
    if undo is None:
        yield 3, f"{one.key} stands, though the run ended {run.state.outcome}"
    elif undo.key in run.proven and run.undo_of(one.key) is None:
        yield 3, f"{one.key} stands: its undo is recorded as landed and never did"
    elif (taken := run.undo_of(one.key)) is not None and taken.place < one.place:
        yield 3, f"{one.key} landed after its undo"


def _order(run: _Run) -> Iterator[Finding]:
    """Law 9, by the order of landing."""
    forward: dict[int, list[Landing]] = {}  # by step; what is proven absent or a person's is not
    for one in run.landings:
        action = run.state.actions.get(one.key)
        if action is None or one.of_key is not None or one.key in run.absent:
            continue
        if not _with_a_person(run, action):
            forward.setdefault(action.step, []).append(one)
    after: dict[int, list[int]] = {}
    for undo in run.landings:
        of = run.state.actions.get(undo.of_key or "")
        if of is None or of.superseded or of.late:
            continue
        if of.step not in after:
            after[of.step] = _behind(run.state, of.step)
        for step in after[of.step]:
            landed = forward.get(step, [])
            for one in landed[bisect_right(landed, undo.place, key=lambda it: it.place) :]:
                yield 9, f"{one.key} landed after {undo.key}, the undo of what it follows"


def _behind(state: RunState, index: int) -> list[int]:
    """What may not land once a step is undone: all that follows it.

    Where it was undone back to a savepoint the run has gone on, and only what lies behind the same
    savepoint may not.
    """
    after, step = successors(state, index), state.steps[index]
    for name, alternative in reversed(step.path):
        if not alternative and state.savepoints.get(name) == "instead":
            return [one for one in after if (name, False) in state.steps[one].path]
    return after


def _really(run: _Run) -> Iterator[Finding]:
    """Law 12: what is recorded as landed, on proof, is there."""
    for key in run.proven:
        action = run.state.actions[key]
        needs_undo = step_of(run.spec.steps, action).undo == "compensation"
        if action.direction == FORWARD and needs_undo and run.landing(key) is None:
            yield 12, f"{key} is recorded as landed and is not in the ledger"
