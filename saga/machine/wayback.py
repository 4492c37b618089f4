"""The way back, kept as an index: which steps have undos to begin, and what still stands.

A step is *clear* when nothing of it is left to settle or undo and all that follows it is clear; the
undo of a step waits until everything behind it is clear. Once the run winds down it is counted with
each event, for the one action that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from saga.definition.spec import StepSpec
from saga.machine.progress import WayBack
from saga.machine.state import FORWARD, Action, RunState, step_of

__all__ = ["begin_way_back", "end_way_back", "weigh"]


def begin_way_back(state: RunState, region: str, steps: Sequence[StepSpec]) -> None:
    """The run (`""`), or what lies behind a savepoint, is undone: look at all of it, once."""
    end_way_back(state, steps)
    state.standing[region] = 0
    for step in steps:
        state.way_back[step.index] = WayBack(region)
    for step in steps:
        behind = sum(later in state.way_back for later in step.before)  # others have not begun
        state.way_back[step.index].behind = behind
        for action in state.progress[step.index].newest.values():
            _weigh(state, action)
    for step in reversed(steps):  # they stand after what they follow
        _pass_on(state, step.index)


def end_way_back(state: RunState, steps: Sequence[StepSpec]) -> None:
    """These steps have been undone, or are undone anew with more of the run."""
    for step in steps:
        back = state.way_back.pop(step.index, None)
        state.frontier.discard(step.index)
        if back is not None:
            state.standing.pop(back.region, None)
            for action in state.progress[step.index].newest.values():
                action.weight = 0


def weigh(state: RunState, action: Action) -> None:
    """Something has become known of an action, or of the undo of one."""
    of = action if action.direction == FORWARD else state.actions[action.of_key or ""]
    # The undo of an older generation waits for nobody.
    if of.step in state.way_back and state.newest(of.step, of.item) is of:
        _weigh(state, of)
        _pass_on(state, of.step)


def _weigh(state: RunState, of: Action) -> None:
    back, undo = state.way_back[of.step], state.undo_of(of)
    before, of.weight = of.weight, _weight(state, of, undo)
    back.holding += (of.weight == 2) - (before == 2)
    state.standing[back.region] += (of.weight > 0) - (before > 0)
    step = step_of(state.steps, of)
    reversible = step.compensation is not None
    if of.state == "landed" and undo is None and reversible and not of.late:
        back.to_undo[of.item] = of
    elif of.item in back.to_undo:
        del back.to_undo[of.item]
    if not (of.weight or undo or back.region or of.wish == "probe"):
        state.moving.pop(of.key, None)  # it did not happen, and nobody will try again
    if step.each is None:
        return  # the others have no limit
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


def _pass_on(state: RunState, index: int) -> None:
    """Tell the steps before a step, and those before them, whether it is clear now."""
    changed = [index] if _changes(state, index) else []
    while changed:
        one = changed.pop()
        back = state.way_back[one]
        if not _changes(state, one):
            continue  # told twice
        back.clear = not back.clear
        for before in state.steps[one].after:
            if before in state.way_back:
                state.way_back[before].behind += -1 if back.clear else 1
                if _changes(state, before):
                    changed.append(before)


def _changes(state: RunState, index: int) -> bool:
    """Whether a step is clear that was not, or the reverse; keeps its place in the frontier."""
    back = state.way_back[index]
    if back.behind == 0 and back.to_undo:
        state.frontier.add(index)
    else:
        state.frontier.discard(index)
    return (back.behind == 0 and back.holding == 0) is not back.clear
