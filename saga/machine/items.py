"""The items of an `Each`: which there are, which begin next, and what an unknown one holds back.

The list stands once, in the input or in the receipt of an earlier step. What is asked after every
event is counted, never looked up by going through the items.
"""

from __future__ import annotations

from collections.abc import Sequence

from saga.definition.keys import item_name
from saga.definition.spec import EachSpec, StepSpec
from saga.machine.facts import Json
from saga.machine.paths import at_path, within
from saga.machine.progress import Items
from saga.machine.state import FORWARD, Action, RunState

__all__ = ["ITEMS_MAX", "BadItems", "holds", "item_value", "listed", "next_items", "note"]

ITEMS_MAX = 10_000


class BadItems(ValueError):
    """A list that cannot be gone over; the text says why, without the values in it."""


def listed(state: RunState, each: EachSpec) -> Items:
    """The items of the list, named. Raises `BadItems`."""
    values = at_path(state, each.over)
    where = ".".join(each.over)
    if not isinstance(values, list):
        raise BadItems(f"{where} is no list")
    if len(values) > ITEMS_MAX:
        raise BadItems(f"{where} has {len(values)} items; the limit is {ITEMS_MAX}")
    positions: dict[str, int] = {}
    for position, value in enumerate(values):
        try:
            name = str(position) if each.key is None else item_name(within(value, each.key))
        except ValueError as error:
            raise BadItems(f"{where}[{position}] has no key: {error}") from None
        first = positions.setdefault(name, position)
        if first != position:
            raise BadItems(f"{where}[{first}] and [{position}] have the same key")
    return Items(positions, list(positions))


def item_value(state: RunState, step: StepSpec, item: str | None) -> Json:
    """The item as it stands in the list; `None` for a step that is no `Each`."""
    items = state.progress[step.index].items
    if item is None or items is None or step.each is None:
        return None
    return at_path(state, step.each.over)[items.positions[item]]


def next_items(state: RunState, step: StepSpec) -> Sequence[str | None]:
    """What may begin now of a step whose turn it is: in order, as far as its limits allow."""
    if state.turn and state.lacks_turn:
        return ()
    progress, each = state.progress[step.index], step.each
    begun = len(progress.newest)
    if each is None:
        return () if begun else (None,)
    items = progress.items
    if items is None or (each.on_unknown == "hold_all" and items.unknown):
        return ()
    end = begun + each.parallel - (begun - progress.done - len(items.aside))
    if each.batch is not None:  # the next one begins when all before it are done
        end = min(end, (progress.done // each.batch + 1) * each.batch)
    return items.order[begun:end]


def holds(state: RunState, step: StepSpec, target: str) -> bool:
    """Whether an unknown item keeps others about `target` from being sent."""
    items = state.progress[step.index].items
    if step.each is None or items is None or state.phase != "running":
        return False
    if step.each.on_unknown == "hold_all":
        return bool(items.unknown)
    return step.each.on_unknown == "hold_target" and target in items.unknown


def note(state: RunState, action: Action) -> None:
    """Keep the counts of an `Each` after anything has become known of one of its items."""
    items = state.progress[action.step].items
    if items is None or action.direction != FORWARD:
        return
    if action.in_doubt and not action.superseded:
        items.unknown.setdefault(action.target, set()).add(action.key)
    elif action.target in items.unknown:
        items.unknown[action.target].discard(action.key)
        if not items.unknown[action.target]:
            del items.unknown[action.target]
    if action.key in state.active and (action.state == "unknown" or action.case is not None):
        items.aside.add(action.key)
    else:
        items.aside.discard(action.key)
