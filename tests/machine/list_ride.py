"""A ride over a list: how its `Each` goes over it, and what each item is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from saga.definition.spec import SagaSpec
from saga.machine.commands import Command, Intend
from saga.machine.facts import Json
from saga.machine.plan import Todo
from saga.machine.settlement import settlement
from tests.machine.orders import START
from tests.machine.ride import Ride
from tests.machine.sagas import line

__all__ = ["ListRide", "item_fates", "listing", "over"]


def listing(*steps: str, **given: Any) -> SagaSpec:
    """A line of steps, each `Each` of it with what is `given` (`parallel=3`, `key=("id",)`)."""
    spec = line(*steps)
    changed = [
        replace(step, each=replace(step.each, **given)) if step.each else step
        for step in spec.steps
    ]
    return replace(spec, steps=tuple(changed))


class ListRide(Ride):
    """A run over `items`. Where an item is a text, its first letter is its target."""

    def __init__(self, spec: SagaSpec, items: Json) -> None:
        super().__init__(spec, replace(START, input={"n": 1, "items": items}))

    def order(self, todo: Todo) -> Command:
        """As in `Ride`, with a target."""
        order = super().order(todo)
        if not isinstance(order, Intend) or order.item is None:
            return order
        items = self.state.progress[order.step].items
        assert items is not None
        value = self.state.input["items"][items.positions[order.item]]
        return replace(order, target=f"{ord(value[0]):016x}") if isinstance(value, str) else order

    def begun(self) -> int:
        """How many items of the first step have an intent."""
        return len(self.state.progress[0].newest)

    def states(self, step: int = 0) -> str:
        """The states of its items in order, a word each; those that have not begun are left out."""
        return " ".join(one.state for one in self.state.progress[step].newest.values())


def over(words: str, items: Json, **given: Any) -> ListRide:
    """A ride of one such step."""
    return ListRide(listing(words, **given), items)


def item_fates(ride: ListRide) -> list[tuple[str | None, str]]:
    """Each item, or the step, and what has become of it."""
    return [(line.item, line.fate) for line in settlement(ride.spec, ride.state)]
