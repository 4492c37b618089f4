"""The way back, kept as an index: which steps have undos to begin, and what still stands.

A step is *clear* when nothing of it is left to settle or undo and all that follows it is clear; the
undo of a step waits until everything behind it is clear. It is counted from the turn of the run on,
with each event for the one action that it is about.
"""

from __future__ import annotations

from saga.machine.progress import WayBack
from saga.machine.state import FORWARD, Action, RunState, step_of

__all__ = ["turn_round", "weigh"]


def turn_round(state: RunState) -> None:
    """The run winds down: look at all that there is, once."""
    state.way_back = [WayBack(behind=len(step.before)) for step in state.steps]
    for progress in state.progress:
        for action in progress.newest.values():
            _weigh(state, action)
    for step in reversed(state.steps):  # they stand after what they follow
        _spread(state, step.index)


def weigh(state: RunState, action: Action) -> None:
    """Something has become known of an action, or of the undo of one."""
    of = action if action.direction == FORWARD else state.actions[action.of_key or ""]
    if state.newest(of.step, of.item) is of:  # the undo of an older one waits for nobody
        _weigh(state, of)
        _spread(state, of.step)


def _weigh(state: RunState, of: Action) -> None:
    back, undo = state.way_back[of.step], state.undo_of(of)
    before, of.weight = of.weight, _weight(state, of, undo)
    back.holding += (of.weight == 2) - (before == 2)
    state.standing += (of.weight > 0) - (before > 0)
    reversible = step_of(state.steps, of).compensation is not None
    if of.state == "landed" and undo is None and reversible and not of.late:
        back.to_undo[of.item] = of
    else:
        back.to_undo.pop(of.item, None)
    if undo is not None and undo.key in state.active and undo.case is None:
        back.undoing.add(of.item)
    else:
        back.undoing.discard(of.item)


def _weight(state: RunState, of: Action, undo: Action | None) -> int:
    """2: it holds back what is before; 1: it is stuck, and passed over; 0: nothing is left of it.

    What landed and cannot be undone is a person's: its case keeps the run from ending.
    """
    step = step_of(state.steps, of)
    if undo is None:
        stands = of.state == "landed" and step.compensation is not None
        return 2 if stands or of.state in ("sending", "unknown") else 0
    if undo.state in ("landed", "accepted"):
        return 0
    passed = not step.hold and undo.case is not None and of.state != "unknown"
    return 1 if passed else 2


def _spread(state: RunState, index: int) -> None:
    """Tell the steps before a step, and those before them, whether it is clear now."""
    changed = [index]
    while changed:
        one = changed.pop()
        back = state.way_back[one]
        if back.behind == 0 and back.to_undo:
            state.frontier.add(one)
        else:
            state.frontier.discard(one)
        clear = back.behind == 0 and back.holding == 0
        if clear is back.clear:
            continue
        back.clear = clear
        for before in state.steps[one].after:
            state.way_back[before].behind += -1 if clear else 1
            changed.append(before)
