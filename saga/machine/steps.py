"""What the end of a step means for the others: what is ready, what is done, which way is taken."""

from __future__ import annotations

from saga.definition.spec import StepSpec
from saga.machine.events import PathTaken, Spread, TurnedBack
from saga.machine.forward import is_final, is_on_path, is_turned_back
from saga.machine.items import listed
from saga.machine.state import RunState
from saga.machine.wayback import begin_way_back, end_way_back

__all__ = ["item_done", "path_taken", "spread", "turned_back", "whole_pivot"]


def spread(state: RunState, event: Spread) -> None:
    """The list of an `Each` is known; an empty one is done with."""
    step = state.steps[state.positions[event.step]]
    assert step.each is not None, step.name
    state.progress[step.index].items = listed(state, step.each)
    if not event.items:
        state.ready.remove(step.index)
        _step_done(state, step.index)


def turned_back(state: RunState, event: TurnedBack) -> None:
    """What lies behind a savepoint is undone; what was turned back within it goes with the rest."""
    region = [step for step in state.steps if (event.savepoint, False) in step.path]
    inner = {name for step in region for name, _ in step.path} - {event.savepoint}
    for name in inner:
        if state.savepoints.get(name) == "undoing":
            del state.savepoints[name]
    state.savepoints[event.savepoint] = "undoing"
    state.ready = [i for i in state.ready if not is_turned_back(state, state.steps[i])]
    state.done = sum(_counts(state, step) and state.is_done(step.index) for step in state.steps)
    begin_way_back(state, event.savepoint, region)


def path_taken(state: RunState, event: PathTaken) -> None:
    """The other path of a savepoint is taken: what is needed and what is ready are counted anew."""
    state.savepoints[event.savepoint] = "instead"
    end_way_back(state, [step for step in state.steps if (event.savepoint, False) in step.path])
    taken = [step for step in state.steps if is_on_path(state, step)]
    # Another part of the run may be on its way back beside this one.
    done = {one.index for one in taken if _counts(state, one) and state.is_done(one.index)}
    state.needed, state.done = len(taken), len(done)
    state.ready = [i for i in state.ready if is_on_path(state, state.steps[i])]
    for step in taken:
        progress = state.progress[step.index]
        here = [i for i in step.after if is_on_path(state, state.steps[i])]
        progress.waits_for = len(here) - len(done.intersection(here))
        waits = progress.waits_for or len(progress.newest) == progress.size
        goes_on = _counts(state, step) and not waits and not state.is_done(step.index)
        if goes_on and step.index not in state.ready:
            state.ready.append(step.index)


def item_done(state: RunState, index: int) -> None:
    """One more item of a step has landed or was skipped; with the last one the step is done."""
    progress = state.progress[index]
    progress.done += 1
    if progress.done == progress.size:
        _step_done(state, index)


def _counts(state: RunState, step: StepSpec) -> bool:
    """What is undone back to a savepoint does nothing for the run, whatever lands there still."""
    return not step.path or (is_on_path(state, step) and not is_turned_back(state, step))


def _step_done(state: RunState, index: int) -> None:
    step = state.steps[index]
    if not _counts(state, step):
        return
    state.done += 1
    for later in step.before:
        progress = state.progress[later]
        progress.waits_for -= 1
        if not progress.waits_for and _counts(state, state.steps[later]):
            state.ready.append(later)


def whole_pivot(state: RunState, index: int) -> None:
    """A pivot is one when all of it is done and any of it has landed, whichever ended last."""
    step = state.steps[index]
    if step.declared_pivot and state.phase == "running" and is_final(state, step):
        state.past_pivot = True
