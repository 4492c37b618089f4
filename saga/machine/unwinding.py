"""In which order a run is undone: against its edges, and never past something that is not settled.

The undo of a step waits until everything behind it is clear (`saga.machine.wayback`), so that it
never runs while a transitive successor is unknown. An undo that is stuck holds what lies before it,
unless its step says `hold=False`. The items of an `Each` do not wait for each other.
"""

from __future__ import annotations

from itertools import islice

from saga.definition.spec import SagaSpec
from saga.machine.moves import Next
from saga.machine.state import FORWARD, Action, RunState
from saga.machine.ways import next_move

__all__ = ["may_undo", "settled", "undo_ready"]


def undo_ready(spec: SagaSpec, state: RunState, now: float) -> list[Action]:
    """The actions whose undo may be intended at `now`, the last ones first.

    What landed late waits for nobody, in whatever phase the run is.
    """
    strays = list(state.strays.values())
    if not state.way_back:
        return strays
    ready = [of for of in state.moving.values() if _is_blind(spec, state, of, now)]
    for index in state.frontier:
        # They landed in this order.
        ready += islice(reversed(state.way_back[index].to_undo.values()), _room(spec, state, index))
    ready.sort(key=lambda of: of.step, reverse=True)
    return strays + ready


def may_undo(spec: SagaSpec, state: RunState, of: Action, now: float) -> bool:
    """Whether the undo of `of` may be intended at `now`: whether it is in `undo_ready`, or next."""
    if of.key in state.strays:
        return True
    if of.step not in state.way_back or of.superseded:
        return False
    if of.item not in state.way_back[of.step].to_undo:
        return _is_blind(spec, state, of, now)
    return of.step in state.frontier and _room(spec, state, of.step) > 0


def settled(state: RunState) -> bool:
    """Whether nothing of a run that winds down is left to settle or to undo."""
    if state.strays or state.standing[""]:
        return False
    return all(action.direction == FORWARD for action in state.active.values())


def _room(spec: SagaSpec, state: RunState, index: int) -> int:
    """How many undos of a step may begin beside those that are under way."""
    each = spec.steps[index].each
    return 1 if each is None else max(each.parallel - len(state.way_back[index].undoing), 0)


def _is_blind(spec: SagaSpec, state: RunState, of: Action, now: float) -> bool:
    """It is unknown for good, and undone without a receipt."""
    if of.state != "unknown" or of.direction != FORWARD or of.undoing is not None:
        return False
    if of.step not in state.way_back or state.way_back[of.step].behind:
        return False
    move = next_move(spec, state, of, now)
    return move is not None and move.next is Next.BLIND and move.at <= now
