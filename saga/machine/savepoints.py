"""Savepoints: where a part of a run is undone, and the run goes on another way.

When a step of its first path fails for good, what landed of that path is undone, against the edges
as ever; then the other path is taken. Where a pivot of that path has landed there is no way back to
it, and where the whole run winds down nothing of this counts any more.
"""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.dead_ends import spent
from saga.machine.events import Event, PathTaken, TurnedBack
from saga.machine.moves import Next
from saga.machine.state import FORWARD, UNDO, Action, RunState, step_of
from saga.machine.ways import contract_of, next_move, savepoint_of

__all__ = ["path_taken", "turned_back"]


def turned_back(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """A step has failed for good, and there is a savepoint to go back to."""
    for action in state.moving.values():
        if action.direction != FORWARD or action.state in ("sending", "unknown"):
            continue
        step = step_of(spec.steps, action)
        name = savepoint_of(state, step)
        if name is None or _may_land_for_good(state, name):
            continue
        move = next_move(spec, state, action, now)
        if move is not None and move.next is Next.FAIL:
            reason = spent(action, contract_of(spec, action)) if move.why != "refused" else ""
            turn = TurnedBack(
                savepoint=name, cause=move.why, step=step.name, error=action.error, reason=reason
            )
            return [turn]
    return []


def _may_land_for_good(state: RunState, name: str) -> bool:
    """First it must be known whether there is a way back."""
    return any(
        action.state in ("sending", "unknown") and action.direction == FORWARD
        for action in state.active.values()
        if (step := step_of(state.steps, action)).pivot and (name, False) in step.path
    )


def path_taken(spec: SagaSpec, state: RunState) -> list[Event]:
    """Nothing behind a savepoint stands any more."""
    for name, how in state.savepoints.items():
        if how == "undoing" and not state.standing[name] and not _is_busy(state, name):
            return [PathTaken(savepoint=name)]
    return []


def _is_busy(state: RunState, name: str) -> bool:
    """Something behind it is undone still, or before a person."""

    def behind(action: Action) -> bool:
        return (name, False) in state.steps[action.step].path

    cases = (one for one in state.cases.values() if one.state == "open") if state.open_cases else ()
    return (
        any(behind(action) for action in state.strays.values())
        or any(action.direction == UNDO and behind(action) for action in state.active.values())
        or any(behind(state.actions[case.key]) for case in cases)
    )
