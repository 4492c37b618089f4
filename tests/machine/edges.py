"""What a step of a walk is made of: what may go wrong, and one thing that happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from saga.definition.spec import SagaSpec
from saga.machine.commands import Command
from saga.machine.state import Action
from saga.machine.ways import contract_of
from tests.machine.world import World

__all__ = ["ERROR", "Budget", "Edge", "latest", "outlived"]

ERROR = {"type": "Broken", "text": "it broke", "leaves": []}


class Budget(NamedTuple):
    """How often each of these may still happen."""

    unknown: int = 1  # a call whose result nobody learns
    refused: int = 1
    not_sent: int = 1
    unsure: int = 1  # a probe cannot say
    crash: int = 0
    cancel: int = 0
    verdict: int = 0
    report: int = 0
    straggler: int = 0  # a request is under way for longer than `in_flight`, up to `late_until`
    decide: int = 0  # somebody approves or refuses
    signal: int = 0  # somebody brings what a wait waits for
    slow: int = 0  # the owner lets time pass though something is due

    def less(self, name: str) -> Budget:
        return self._replace(**{name: getattr(self, name) - 1})


@dataclass(slots=True)
class Edge:
    """One thing that happens: a command, or only something outside, or only time."""

    label: str
    world: World
    budget: Budget
    command: Command | None = None
    ticks: float = 0.0
    surely: bool = False  # the machine must take it
    anyway: bool = False  # it has happened outside, whether the machine takes it or not


def outlived(spec: SagaSpec, action: Action, world: World, now: float) -> bool:
    """A request that nobody could cut off comes when its key is forgotten: a second effect.

    No rule of the machine can prevent that, so the walk leaves it out; the documentation names it.
    """
    known = world.remembers(action, contract_of(spec, action), now)
    return known is None and bool(world.landings.get(action.key))


def latest(spec: SagaSpec, action: Action, until: float, now: float) -> float:
    """When a request that could leave until `until` lands at the latest.

    Where nothing is declared it lands at once: nobody could protect a run from more.
    """
    in_flight = contract_of(spec, action).provider.in_flight
    return now if in_flight is None else max(until + in_flight, now)
