"""Runs as they are shown: by the client, the command line and every other surface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from saga.journal.history import History
from saga.machine.approving import open_approvals
from saga.machine.facts import Error, Json
from saga.machine.forward import winds_down
from saga.machine.settlement import Line, settlement
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.spent import Spent, run_budget

__all__ = [
    "ActionView",
    "Failure",
    "ItemCounts",
    "Run",
    "StepView",
    "damaged_view",
    "moment",
    "run_view",
    "since",
]

_NEVER = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class ActionView:
    """An action: its state as in the table `actions`, or `waiting` before its intent."""

    state: str
    attempts: int
    key: str | None
    receipt: Json
    error: Error | None


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items an `Each` has, and how many are in each state; `waiting`: never tried.

    `undos` counts in the same way the undos that have been begun.
    """

    total: int
    states: dict[str, int]
    undos: dict[str, int]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a run. `undo` is `None` where nothing is to be undone; `evidence` is that of
    `Satisfied`: what the step wanted was so already.

    `instead`: the alternative that has taken its place, whose key, state and receipt these are.
    `items`: of an `Each` whose list is known. Its state, and that of its undo, is the one of its
    items that says most of what is left to do; attempts are summed, the error is the first one.
    """

    name: str
    state: str
    attempts: int
    key: str | None
    receipt: Json
    error: Error | None
    undo: ActionView | None
    evidence: Json = None
    items: ItemCounts | None = None
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that failed for good: what is recorded of it last."""

    step: str
    state: str
    error: Error | None
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `steps` in the order of the definition, `cases` the ids of the open ones, times UTC.
    `approvals`: the steps that wait for people to approve them. `budget`: by name, what is used up.
    `resource`: what it is exclusive about; `turn`: holds, waits or parked, until it has ended.

    `phase`: running, compensating, ended. `outcome`: completed, compensated, settled. `cause`:
    refused, attempts, cancelled, deadline, person; `cause_step`, `cause_error` and `cause_reason`
    (why it is not tried again, or what the person `cause_actor` said who cancelled it or decided
    so) tell the first one, `failures` every step that failed for good, the
    optional ones included. `settlement`: of an ended run, what became of each effect and on whose
    word; else empty. `damaged`: what is stored does not verify; then only what the head says
    is shown.
    `notice` says what its caller should know and is no part of it: that it was started before, that
    a cancel waits or came too late, or that nobody runs its saga, with the command to start one.
    """

    id: str
    tenant: str
    saga: str
    version: int
    phase: str
    outcome: str | None
    cause: str | None
    cause_step: str | None
    cause_error: Error | None
    cause_reason: str
    cause_actor: str | None
    failures: tuple[Failure, ...]
    steps: tuple[StepView, ...]
    settlement: tuple[Line, ...]
    cases: tuple[str, ...]
    approvals: tuple[str, ...]
    resource: str | None
    turn: str | None
    due_at: datetime | None
    started_at: datetime
    ended_at: datetime | None
    damaged: bool = False
    budget: dict[str, Spent] = field(default_factory=dict)
    notice: str = field(default="", compare=False)


def moment(at: float | None) -> datetime | None:
    """A stored time as an aware datetime; `None` too for a damaged one that no calendar has."""
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def since(at: float) -> datetime:
    """As `moment`, for a time that a whole row always has."""
    return moment(at) or _NEVER


def run_view(history: History, notice: str = "") -> Run:
    """A verified run, shown."""
    state = history.state
    return Run(
        id=state.run_id,
        tenant=state.tenant,
        saga=state.saga,
        version=state.saga_version,
        phase=state.phase,
        outcome=state.outcome,
        cause=state.cause,
        cause_step=state.cause_step,
        cause_error=state.cause_error,
        cause_reason=state.cause_reason,
        cause_actor=state.cause_actor,
        failures=tuple(_failures(state)),
        steps=tuple(_step(history, index) for index in range(len(state.steps))),
        settlement=settlement(history.spec, state) if state.phase == "ended" else (),
        cases=tuple(case.id for case in state.cases.values() if case.state == "open"),
        approvals=tuple(step_of(state.steps, action).name for action, _ in open_approvals(state)),
        resource=state.resource,
        turn=state.turn,
        due_at=moment(history.due),
        started_at=since(state.started_at),
        ended_at=moment(state.ended_at),
        budget=run_budget(history),
        notice=notice or _cancelled(state),
    )


def _cancelled(state: RunState) -> str:
    """What became of a cancel that is on record, as far as nothing else shows it."""
    asked = f"{state.run_id}: the cancel by {state.cancelled_by or 'somebody'}"
    if state.cancel is not None and state.phase == "running":
        then = "and the run only goes forward if that has landed"
        return f"{asked} waits: what cannot be taken back is settled first, {then}"
    late = state.cancel is not None and state.outcome == "completed"
    return f"{asked} came too late: what cannot be taken back had landed" if late else ""


def damaged_view(head: Any, cases: tuple[str, ...]) -> Run:
    """A run whose journal does not verify: what its head says, for what that is worth."""
    return Run(
        id=head["run_id"],
        tenant=head["tenant"],
        saga=head["saga"],
        version=head["saga_version"],
        phase=head["phase"],
        outcome=head["outcome"],
        cause=head["cause"],
        cause_step=None,
        cause_error=None,
        cause_reason="",
        cause_actor=None,
        failures=(),
        steps=(),
        settlement=(),
        cases=cases,
        approvals=(),
        resource=None,
        turn=None,
        due_at=moment(head["due_at"]),
        started_at=since(head["started_at"]),
        ended_at=moment(head["ended_at"]),
        damaged=True,
    )


def _failures(state: RunState) -> Iterator[Failure]:
    """The first cause first, then the others in the order of the steps."""
    stopped = state.phase != "running"
    failed = [
        Failure(step_of(state.steps, action).name, action.state, action.error, action.item)
        for action in state.actions.values()
        if action.error is not None
        and action.direction == FORWARD
        and (action.failed_over or not action.superseded)
        and (
            action.state == "skipped"
            or action.failed_over
            or (stopped and action.state in ("refused", "not_sent", "absent") and not action.undone)
        )
    ]
    yield from sorted(failed, key=lambda one: one.step != state.cause_step)


def _step(history: History, index: int) -> StepView:
    state, step = history.state, history.spec.steps[index]
    if step.each is not None and state.progress[index].items is not None:
        return _each(state, index)
    action = state.newest(index)
    if action is None:
        return StepView(step.name, "waiting", 0, None, None, None, None)
    shown = _action(action)
    undo = state.undo_of(action)
    undoing: ActionView | None = None
    reversible = step_of(state.steps, action).compensation is not None
    if undo is not None:
        undoing = _action(undo)
    elif winds_down(state, step) and reversible and action.state == "landed":
        undoing = ActionView("waiting", 0, action.undo_key, None, None)
    return StepView(
        step.name,
        shown.state,
        shown.attempts,
        shown.key,
        shown.receipt,
        shown.error,
        undoing,
        action.evidence,
        instead=step_of(state.steps, action).name if action.choice else None,
    )


# Of many, which one is shown: what is left to do first.
_TELLING = ("unknown", "sending", "intended", "not_sent", "refused", "absent", "waiting", "landed")


def _each(state: RunState, index: int) -> StepView:
    progress = state.progress[index]
    begun = list(progress.newest.values())
    undos = [undo for action in begun if (undo := state.undo_of(action)) is not None]
    counts = Counter(action.state for action in begun)
    if progress.size > len(begun):
        counts["waiting"] = progress.size - len(begun)
    undone = Counter(undo.state for undo in undos)
    return StepView(
        state.steps[index].name,
        _telling(counts),
        sum(action.attempts for action in begun),
        None,
        None,
        _first_error(begun),
        _undos(undos, undone) if undos else None,
        items=ItemCounts(progress.size, dict(counts), dict(undone)),
    )


def _undos(undos: Sequence[Action], counts: Mapping[str, int]) -> ActionView:
    attempts = sum(undo.attempts for undo in undos)
    return ActionView(_telling(counts), attempts, None, None, _first_error(undos))


def _telling(counts: Mapping[str, int]) -> str:
    return next((state for state in _TELLING if state in counts), "skipped")


def _first_error(actions: Sequence[Action]) -> Error | None:
    return next((action.error for action in actions if action.error is not None), None)


def _action(action: Action) -> ActionView:
    return ActionView(action.state, action.attempts, action.key, action.receipt, action.error)
