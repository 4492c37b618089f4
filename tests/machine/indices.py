"""What the machine keeps so that it need not look is what looking at everything gives."""

from __future__ import annotations

from itertools import pairwise

from saga.definition.spec import StepSpec
from saga.machine.forward import is_on_path, is_turned_back
from saga.machine.progress import Progress
from saga.machine.state import FORWARD, Action, RunState, step_of
from tests.machine.world import LawBroken

__all__ = ["check_indices"]


def check_indices(state: RunState) -> None:
    """Raise `LawBroken` unless every index of `state` is true."""
    forward = [a for a in state.actions.values() if a.direction == FORWARD]
    places = {(a.step, a.item) for a in forward}
    for step, item in places | {(step.index, None) for step in state.steps}:
        line = [a for a in forward if (a.step, a.item) == (step, item)]
        _generations(line, state.newest(step, item))
        for of in line:
            undos = [a for a in state.actions.values() if a.of_key == of.key]
            _generations(undos, state.undo_of(of))
    _items(state)
    _way_back(state)
    settled = ("landed", "accepted", "skipped")
    active = {a.key for a in state.actions.values() if a.state not in settled and not a.superseded}
    taken = {step.index for step in state.steps if is_on_path(state, step)}
    if state.needed != len(taken):
        raise LawBroken("14", f"{state.needed} steps are needed, and {len(taken)} are")
    on_path = set(taken)
    taken -= {step.index for step in state.steps if is_turned_back(state, step)}
    landed = {step.index for step in state.steps if _is_done(state.progress[step.index])} & taken
    ready = {
        index
        for index in taken
        if state.phase
        and len(state.progress[index].newest) < state.progress[index].size
        and landed.issuperset(on_path.intersection(state.steps[index].after))
    }
    if (set(state.active), sorted(state.ready), state.done) != (
        active,
        sorted(ready),
        len(landed),
    ):
        raise LawBroken("14", "an index is not what looking at everything gives")
    still = {key for key, one in state.active.items() if not _is_over(state, one)}
    moving = {key for key in still if not _is_left_to_a_person(state.active[key])}
    if set(state.moving) != moving:
        raise LawBroken("14", f"what moves by itself is not what looking gives: {moving}")
    watched = {a.key for a in state.actions.values() if a.watch is not None}
    undoable = [a for a in state.actions.values() if step_of(state.steps, a).undo == "compensation"]
    strays = {a.key for a in undoable if a.late and a.undoing is None}
    if (set(state.watched), set(state.strays)) != (watched, strays):
        raise LawBroken("14", "what is watched or landed late is not what looking gives")
    open_cases = {case.key: case.id for case in state.cases.values() if case.state == "open"}
    known = {a.key: a.case for a in state.actions.values() if a.case is not None}
    count = sum(case.state == "open" for case in state.cases.values())
    if open_cases != known or state.open_cases != count or count != len(open_cases):
        raise LawBroken("10", "open cases, and what the run and its actions know of them")


def _is_left_to_a_person(action: Action) -> bool:
    """Nothing is out, its case is open, and nothing was asked for, is being undone or awaited."""
    approval = action.state == "intended" and action.approval is not None
    by_itself = action.wish or action.undoing or action.state == "sending" or approval
    return action.case is not None and not by_itself


def _is_over(state: RunState, action: Action) -> bool:
    """It did not happen, and with the run wound down nothing of it is done any more."""
    if action.direction != FORWARD or _region(state, state.steps[action.step]) != "":
        return False
    under_way = action.state in ("sending", "unknown") or action.undoing is not None
    return not under_way and action.wish != "probe"


def _is_done(progress: Progress) -> bool:
    landed = [
        one
        for one in progress.newest.values()
        if one.state in ("landed", "skipped") and not one.late
    ]
    if progress.done != len(landed):
        raise LawBroken("14", f"{progress.done} items are done, and {len(landed)} are")
    return len(landed) == progress.size


def _items(state: RunState) -> None:
    for step, progress in zip(state.steps, state.progress, strict=True):
        if step.each is None or progress.items is None:
            continue
        begun = [item for item in progress.newest if item is not None]
        if begun != progress.items.order[: len(begun)]:
            raise LawBroken("14", f"items of {step.name} began out of order: {begun}")
        unknown: dict[str, set[str]] = {}
        aside = set[str]()
        for one in progress.newest.values():
            if any(not attempt.in_flight for attempt in one.open.values()):
                unknown.setdefault(one.target, set()).add(one.key)
            if one.key in state.active and (one.state == "unknown" or one.case is not None):
                aside.add(one.key)
        if (progress.items.unknown, progress.items.aside) != (unknown, aside):
            raise LawBroken("14", f"the unknown items of {step.name} are not what looking gives")


def _way_back(state: RunState) -> None:
    """What is counted on the way back is what the definition of clear gives."""
    clear = dict[int, bool]()
    frontier = set[int]()
    standing = dict[str, int]()
    for step in reversed(state.steps):
        region = _region(state, step)
        if region is None:
            continue
        newest = state.progress[step.index].newest.values()
        left = [one for one in newest if not _is_taken_back(state, one)]
        held = [one for one in left if not _is_passed(state, one)]
        reachable = all(clear.get(later, True) for later in step.before)
        clear[step.index] = reachable and not held
        standing[region] = standing.get(region, 0) + len(left)
        undoable = [
            one
            for one in newest
            if one.state == "landed"
            and one.undoing is None
            and not one.late
            and step_of(state.steps, one).compensation is not None
        ]
        if reachable and undoable:
            frontier.add(step.index)
    counted = {step: one.clear for step, one in state.way_back.items()}
    if (counted, state.frontier, state.standing) != (clear, frontier, standing):
        raise LawBroken("14", "the way back is not what looking at everything gives")


def _region(state: RunState, step: StepSpec) -> str | None:
    """With what a step is being undone: the run (also when it has ended so), or a savepoint."""
    if state.outcome in ("compensated", "settled") or state.phase == "compensating":
        return ""
    outermost = [name for name, other in step.path if not other]
    return next((one for one in outermost if state.savepoints.get(one) == "undoing"), None)


def _is_taken_back(state: RunState, action: Action) -> bool:
    undo = state.undo_of(action)
    if undo is not None:
        return undo.state in ("landed", "accepted")
    if action.state in ("sending", "unknown"):
        return False
    return action.state != "landed" or step_of(state.steps, action).compensation is None


def _is_passed(state: RunState, action: Action) -> bool:
    undo = state.undo_of(action)
    stuck = undo is not None and undo.case is not None and action.state != "unknown"
    return stuck and not step_of(state.steps, action).hold


def _generations(line: list[Action], newest: Action | None) -> None:
    lives = [(a.choice, a.generation) for a in line]
    in_turn = all(later in ((c, g + 1), (c + 1, 1)) for (c, g), later in pairwise(lives))
    if not in_turn or (lives and lives[0][1] != 1):
        raise LawBroken("2", f"generations: {line}")
    if [a.superseded for a in line] != [True] * (len(line) - 1) + [False] * bool(line):
        raise LawBroken("2", f"superseded generations: {line}")
    if newest is not (line[-1] if line else None):
        raise LawBroken("14", f"newest generation of {line}")
