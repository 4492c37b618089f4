"""Whether anything new may still be sent forward: of a run, of a step, of a sub-saga."""

from __future__ import annotations

from math import inf

from saga.definition.spec import SagaSpec, StepSpec
from saga.machine.state import RunState, step_of

__all__ = [
    "begins_in_time",
    "goes_forward",
    "group_deadline",
    "is_final",
    "is_on_path",
    "is_turned_back",
    "leads_on",
    "may_come",
    "stopped",
    "unfinished",
    "winds_down",
]


def stopped(state: RunState) -> bool:
    """Whether it is on record that no new forward sending starts any more."""
    if state.phase != "running":
        return True
    return not state.past_pivot and (state.cancel is not None or state.deadline_passed)


def goes_forward(state: RunState, now: float) -> bool:
    """Whether a new forward sending may start (one that settles an unknown is not new)."""
    if stopped(state):
        return False
    return state.past_pivot or state.deadline_at is None or now < state.deadline_at


def is_on_path(state: RunState, step: StepSpec) -> bool:
    """Whether the run has taken, or may still take, the path of every savepoint that leads here."""
    return not step.path or all(
        alternative is (state.savepoints.get(name) == "instead") for name, alternative in step.path
    )


def is_final(state: RunState, step: StepSpec) -> bool:
    """Whether what a step has done stays: it cannot be undone, or it is a pivot and whole."""
    landed = [
        action
        for action in state.progress[step.index].newest.values()
        if action.state == "landed" and not action.late
    ]
    if any(step_of(state.steps, action).irreversible for action in landed):
        return True
    return step.declared_pivot and bool(landed) and state.is_done(step.index)


def may_come(state: RunState, step: StepSpec) -> bool:
    """Whether a step may still be on the path of the run, now or once it has gone back."""
    return all(alternative or name not in state.savepoints for name, alternative in step.path)


def is_turned_back(state: RunState, step: StepSpec) -> bool:
    """Whether a step lies behind a savepoint that the run is going back to."""
    return bool(step.path) and any(
        not alternative and state.savepoints.get(name) == "undoing"
        for name, alternative in step.path
    )


def winds_down(state: RunState, step: StepSpec) -> bool:
    """Whether a step is being undone: with the whole run, or back to a savepoint."""
    if state.phase != "running":
        return state.phase == "compensating"
    return is_turned_back(state, step)


def leads_on(state: RunState, step: StepSpec) -> bool:
    """Whether a step may still be done: neither the run nor its part of it has turned or ended."""
    if state.phase != "running":
        return False
    return not step.path or (is_on_path(state, step) and not winds_down(state, step))


def group_deadline(spec: SagaSpec, state: RunState, step: StepSpec) -> float:
    """When the sub-sagas that a step is part of must have done (unix seconds); infinite: never."""
    return min(
        [
            state.begun[group] + limit
            for group, limit in spec.limits
            if group in step.groups and group in state.begun
        ],
        default=inf,
    )


def unfinished(spec: SagaSpec, state: RunState, group: str) -> StepSpec | None:
    """The first step of a group that is not done; `None` if all are."""
    for step in spec.steps:
        progress = state.progress[step.index]
        left = progress.done < progress.size and is_on_path(state, step)
        if left and group in step.groups and not is_turned_back(state, step):
            return step
    return None


def begins_in_time(spec: SagaSpec, state: RunState, step: StepSpec, now: float) -> bool:
    """Whether a new forward sending of `step` may start at `now`."""
    if not goes_forward(state, now) or (step.path and not leads_on(state, step)):
        return False
    return not spec.limits or state.past_pivot or now < group_deadline(spec, state, step)
