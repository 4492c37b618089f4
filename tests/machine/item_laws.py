"""What must hold when an item of an `Each` begins, is sent, or is undone."""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Intended
from saga.machine.state import Action, RunState, step_of
from tests.machine.world import LawBroken

__all__ = ["is_held", "item_begins", "undo_of_item"]


def item_begins(spec: SagaSpec, state: RunState, event: Intended) -> None:
    """An item begins within the limits of its `Each`."""
    step = spec.step(event.step)
    each, progress = step.each, state.progress[step.index]
    assert each is not None, event
    assert progress.items is not None, event
    states = {item: one.state for item, one in progress.newest.items()}
    if each.on_unknown == "hold_all" and any(map(_in_doubt, progress.newest.values())):
        raise LawBroken("each", f"{event.key} begins while another item is unknown")
    moving = [
        one
        for one in progress.newest.values()
        if one.case is None and one.state in ("sending", "not_sent", "intended")
    ]
    if len(moving) >= each.parallel:
        raise LawBroken("each", f"{event.key} is one too many at once")
    batch = (each.batch or progress.size) or 1
    first = progress.items.positions[event.item or ""] // batch * batch
    before = progress.items.order[:first]
    if any(states.get(item) not in ("landed", "skipped") for item in before):
        raise LawBroken("each", f"{event.key} begins before the batch before it is done")


def undo_of_item(spec: SagaSpec, state: RunState, event: Intended) -> None:
    """As many are undone at once as went forward; one that a person has takes up no place."""
    each = spec.step(event.step).each
    assert each is not None, event
    moving = [
        one
        for one in state.active.values()
        if one.step == state.positions[event.step] and one.of_key and one.case is None
    ]
    of = state.actions[event.of_key or ""]
    if len(moving) >= each.parallel and of.state == "landed" and not of.late:
        raise LawBroken("each", f"{event.key} is one too many at once")


def is_held(spec: SagaSpec, state: RunState, action: Action) -> bool:
    """An unknown item of the same `Each` keeps this one from being sent."""
    each = step_of(spec.steps, action).each
    if each is None or each.on_unknown == "hold_item" or action.state == "unknown":
        return False
    return any(
        _in_doubt(one) and (each.on_unknown == "hold_all" or one.target == action.target)
        for one in state.progress[action.step].newest.values()
    )


def _in_doubt(action: Action) -> bool:
    """Nobody knows of one of its attempts, also while it is sent again."""
    return any(not attempt.in_flight for attempt in action.open.values())
