"""In which order a run is undone: against its edges, and never past something that is not settled.

A step is *clear* when nothing of it is left to settle or undo and all that follows it is clear. The
undo of a step waits until everything behind it is clear, so that it never runs while a transitive
successor is unknown. An undo that is stuck holds what lies before it, unless its step says
`hold=False`.
"""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.state import UNDO, Action, RunState
from saga.machine.ways import Next, next_move

__all__ = ["settled", "undo_ready"]


def undo_ready(spec: SagaSpec, state: RunState, now: float) -> list[Action]:
    """The actions whose undo may be intended at `now`, the last ones first.

    What landed late waits for nobody, in whatever phase the run is.
    """
    strays = list(state.strays.values())
    if state.phase != "compensating":
        return strays
    clear = [False] * len(spec.steps)
    ready: list[Action] = []
    for step in reversed(spec.steps):  # they stand after what they follow
        if all(clear[later] for later in step.before):
            clear[step.index] = _settled(spec, state, step.index) or _passable(
                spec, state, step.index
            )
            action = state.forward[step.index]
            if action is not None and _may_begin(spec, state, action, now):
                ready.append(action)
    return strays + ready


def settled(spec: SagaSpec, state: RunState) -> bool:
    """Whether nothing of a run that winds down is left to settle or to undo."""
    if state.strays or any(action.direction == UNDO for action in state.active.values()):
        return False
    return all(_settled(spec, state, step.index) for step in spec.steps)


def _settled(spec: SagaSpec, state: RunState, index: int) -> bool:
    action = state.forward[index]
    undo = state.undo_of(action)
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
    action = state.forward[index]
    undo = state.undo_of(action)
    return (
        not spec.steps[index].hold
        and undo is not None
        and undo.case is not None
        and action is not None
        and action.state != "unknown"
    )


def _may_begin(spec: SagaSpec, state: RunState, action: Action, now: float) -> bool:
    if spec.steps[action.step].compensation is None or action.undoing is not None:
        return False
    if action.state != "unknown":
        return action.state == "landed"
    move = next_move(spec, state, action, now)
    return move is not None and move.next is Next.BLIND and move.at <= now
