"""Sagas made at random from the blocks, each explored: every single fault at every place of it.

    python -m tests.crash.generated [--examples N] [--runs N] [--rival] [--seed N]

A saga is a few entries: steps, lists and savepoints, each with a provider, a way to be undone and
a fate of its first request. What no saga can be is left out by its own construction errors.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from saga import (
    Call,
    Each,
    Irreversible,
    NothingToUndo,
    Retry,
    Saga,
    Savepoint,
    Step,
    Undo,
    bind,
    input_of,
    item_of,
)
from saga.errors import DefinitionError
from saga.testing import Fate, Report, World, explore
from tests.crash.explore_shapes import PROVIDERS

__all__ = ["Plan", "explored", "plans", "saga_of"]


class Order(BaseModel):
    id: str
    lines: list[str]


class Part(BaseModel):
    of: str


class Done(BaseModel):
    text: str


@dataclass(frozen=True)
class StepPlan:
    """One step. `beside`: it does not wait for the entry before it."""

    provider: str
    undo: str  # receipt | blind | nothing | irreversible
    fate: Fate
    then: Fate
    threaded: bool = False
    optional: bool = False
    pivot: bool = False
    beside: bool = False
    alternative: bool = False
    items: bool = False
    on_unknown: str = "hold_all"


@dataclass(frozen=True)
class PathPlan:
    """A savepoint: two paths."""

    steps: tuple[StepPlan, ...]
    instead: tuple[StepPlan, ...]


Plan = tuple[StepPlan | PathPlan, ...]

_FATES = (Fate.ACT, Fate.REFUSE, Fate.NOT_SENT, Fate.LOSE_REQUEST, Fate.LOSE_REPLY, Fate.LATE)


def plans() -> st.SearchStrategy[Plan]:
    """One to three entries."""
    step = st.builds(
        StepPlan,
        provider=st.sampled_from(sorted(PROVIDERS)),
        undo=st.sampled_from(["receipt", "receipt", "blind", "nothing", "irreversible"]),
        fate=st.sampled_from(_FATES),
        then=st.sampled_from([Fate.ACT, Fate.ACT, Fate.REFUSE]),
        threaded=st.booleans(),
        optional=st.sampled_from([False, False, True]),
        pivot=st.sampled_from([False, False, False, True]),
        beside=st.booleans(),
        alternative=st.sampled_from([False, False, True]),
        items=st.sampled_from([False, False, True]),
        on_unknown=st.sampled_from(["hold_all", "hold_item"]),
    )
    path = st.lists(step, min_size=1, max_size=2).map(tuple)
    entry = st.one_of(step, step, st.builds(PathPlan, steps=path, instead=path))
    return st.lists(entry, min_size=1, max_size=3).map(tuple)


async def do(call: Call[Part]) -> Done:
    return Done(text=f"{call.step} {call.args.of}")


def do_in_thread(call: Call[Part]) -> Done:
    return Done(text=f"{call.step} {call.args.of}")


async def undo(call: Undo[Part, Done]) -> None:
    assert call.receipt.text


async def undo_blind(call: Undo[Part, Done | None]) -> None:
    pass


class _Maker:
    """Makes the steps of one plan, each with a name of its own."""

    def __init__(self) -> None:
        self.world, self.order, self.count = World(), input_of(Order), 0

    def entry(self, plan: StepPlan | PathPlan) -> Step[Any, Any] | Savepoint:
        if isinstance(plan, StepPlan):
            return self.step(plan)
        steps = [self.step(one) for one in plan.steps]
        instead = [self.step(one) for one in plan.instead]
        self.count += 1
        return Savepoint(f"point{self.count}", steps=steps, instead=instead)

    def step(self, plan: StepPlan) -> Step[Any, Any]:
        name, provider, probe = self._named(plan)
        effect = self.world.effect(
            f"{name}.do",
            do_in_thread if plan.threaded else do,
            provider=provider,
            probe=probe,
            retry=Retry(attempts=2),
        )
        self.world.meets(effect.name, plan.fate, then=plan.then)
        undone = self._undo(plan, name, provider, probe=probe)
        more: dict[str, Any] = {"optional": plan.optional, "pivot": plan.pivot}
        more |= {"after": []} if plan.beside else {}
        if plan.items:
            line = item_of(self.order.lines)
            args = bind(Part)(of=line)
            more |= {"over": self.order.lines, "key": line, "on_unknown": plan.on_unknown}
            return Each(name, effect, args=args, compensation=undone, parallel=2, **more)
        if plan.alternative:
            more["instead"] = [self.step(StepPlan(plan.provider, plan.undo, Fate.ACT, Fate.ACT))]
        args = bind(Part)(of=self.order.id)
        return Step(name, effect, args=args, compensation=undone, **more)

    def _named(self, plan: StepPlan) -> tuple[str, Any, bool]:
        self.count += 1
        return f"s{self.count}", *PROVIDERS[plan.provider]

    def _undo(self, plan: StepPlan, name: str, provider: Any, *, probe: bool) -> Any:
        if plan.undo == "irreversible":
            return Irreversible("it is gone")
        if plan.undo == "nothing":
            return NothingToUndo("it is only read")
        function: Any = undo if plan.undo == "receipt" else undo_blind
        return self.world.compensation(
            f"{name}.undo", function, provider=provider, probe=probe, retry=Retry(attempts=2)
        )


def saga_of(plan: Plan) -> Saga[Order] | None:
    """The saga of a plan; `None` where it can be none."""
    maker = _Maker()
    try:
        return Saga("generated", maker.order, [maker.entry(one) for one in plan])
    except DefinitionError:
        return None


def explored(plan: Plan, **options: Any) -> Report | None:
    """What the exploration of a plan's saga found; `None` where it can be no saga."""
    saga = saga_of(plan)
    if saga is None:
        return None
    return explore(saga, Order(id="order-1", lines=["a", "b"]), **options)


def main(arguments: list[str]) -> int:
    """Print a line for each saga that breaks a law, and the counts; 1 if one does."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.generated", description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rival", action="store_true")
    chosen = parser.parse_args(arguments)
    reports: list[Report] = []
    closed = 0

    @seed(chosen.seed)
    @settings(
        max_examples=chosen.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def every(plan: Plan) -> None:
        nonlocal closed
        report = explored(plan, runs=chosen.runs, rival=chosen.rival, enough=1)
        if report is not None:
            reports.append(report)
            closed += report.complete
            assert report.ok, f"{plan}\n{report}"

    failed = ""
    try:
        every()
    except AssertionError as error:
        failed = str(error)
    runs, states = sum(r.runs for r in reports), sum(r.states for r in reports)
    told = f"{len(reports)} sagas, {closed} to their fix points, {states} durable states"
    sys.stdout.write(f"{failed}\n{told}, {runs} orchestrators, {int(bool(failed))} violations\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
