"""In which order a run is undone: against its edges, and never past something that is not settled.

A step is *clear* when nothing of it is left to settle or undo and all that follows it is clear. The
undo of a step waits until everything behind it is clear, so that it never runs while a transitive
successor is unknown. An undo that is stuck holds what lies before it, unless its step says
`hold=False`.
"""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.state import RunState
from saga.machine.ways import Next, next_move

__all__ = ["settled", "undo_ready"]


def undo_ready(spec: SagaSpec, state: RunState, now: float) -> list[int]:
    """The steps whose undo may be intended at `now`, the last ones first."""
    clear = [False] * len(spec.steps)
    ready: list[int] = []
    for step in reversed(spec.steps):  # they stand after what they follow
        if all(clear[later] for later in step.before):
            clear[step.index] = _settled(spec, state, step.index) or _passable(
                spec, state, step.index
            )
            if _may_begin(spec, state, step.index, now):
                ready.append(step.index)
    return ready


def settled(spec: SagaSpec, state: RunState) -> bool:
    """Whether nothing of a run that winds down is left to settle or to undo."""
    return all(_settled(spec, state, step.index) for step in spec.steps)


def _settled(spec: SagaSpec, state: RunState, index: int) -> bool:
    action, undo = state.forward[index], state.undo[index]
    if action is None:
        return True
    if undo is not None:
        return undo.state in ("landed", "accepted")
    if action.state in ("sending", "unknown"):
        return False
    # What landed and cannot be undone is a person's: its case keeps the run from ending.
    return action.state != "landed" or spec.steps[index].compensation is None


def _passable(spec: SagaSpec, state: RunState, index: int) -> bool:
    """A stuck undo that does not hold those before it; an unknown action always does."""
    action, undo = state.forward[index], state.undo[index]
    return (
        not spec.steps[index].hold
        and undo is not None
        and undo.case is not None
        and action is not None
        and action.state != "unknown"
    )


def _may_begin(spec: SagaSpec, state: RunState, index: int, now: float) -> bool:
    action, step = state.forward[index], spec.steps[index]
    if action is None or step.compensation is None or state.undo[index] is not None:
        return False
    if action.state != "unknown":
        return action.state == "landed"
    move = next_move(spec, state, action, now)
    return move is not None and move.next is Next.BLIND and move.at <= now
