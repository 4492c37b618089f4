"""Sagas that are exclusive about an order, and limits on their calls, at the scripted outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from saga import App, Compensation, Effect, Retry, Run, Saga, Step, input_of
from tests.cases.ledger import Line
from tests.cases.scripted import (
    FAST,
    PROVIDERS,
    Plan,
    act,
    act_in_thread,
    ask,
    lifespan,
    take_back,
)
from tests.cases.world import World

__all__ = ["ORDERS", "Order", "app", "begin", "interleaved", "most_at_once", "turns"]

ORDERS = "tests.isolation.orders:app"


class Order(BaseModel):
    """The input: which order it is about, and what its effects do."""

    order: str
    plan: Plan


def app(
    folder: str,
    *,
    names: Sequence[str] = ("s1", "s2"),
    sagas: Sequence[str] = ("chain",),
    provider: str = "both",
    exclusive: bool = True,
    deadline: float | None = None,
    timeout: float = 10.0,
    retry: Mapping[str, Any] | None = None,
    limits: Mapping[str, int] | None = None,
    at_provider: int | None = None,
    threaded: Sequence[str] = (),
) -> App:
    """`limits` has, by step (`s1`, `undo s1`), how many calls at once; `at_provider` for all."""
    order, most = input_of(Order), limits or {}
    there = replace(PROVIDERS[provider], concurrency=at_provider)
    shared: dict[str, Any] = {"probe": ask, "timeout": timeout, "provider": there}

    def step(name: str) -> Step[Any, Any]:
        effect = Effect(
            f"do-{name}",
            act_in_thread if name in threaded else act,
            retry=Retry(**{**FAST, **(retry or {})}),
            concurrency=most.get(name),
            **shared,
        )
        undo = Compensation(
            f"undo-{name}",
            take_back,
            retry=Retry(**FAST),
            concurrency=most.get(f"undo {name}"),
            **shared,
        )
        return Step(name, effect, args=order.plan, compensation=undo)

    made = [
        Saga(
            name,
            order,
            [step(one) for one in names],
            deadline=deadline,
            exclusive=order.order if exclusive else None,
        )
        for name in sagas
    ]
    return App(*made, lifespan=lifespan(folder))


def begin(
    world: World,
    run_id: str,
    order: str = "o1",
    *,
    saga: int = 0,
    tenant: str = "",
    **acts: str | list[str],
) -> Run:
    """Start a run about an order: `s1="land drop"`, `undo_s1=["not_sent", "land"]`."""
    plan = {
        name.replace("_", " "): [act] if isinstance(act, str) else act for name, act in acts.items()
    }
    given = {"order": order, "plan": {"acts": plan}}
    return world.client.start(world.app.sagas[saga], given, run_id=run_id, tenant=tenant)


def interleaved(world: World, runs: Iterable[str]) -> list[str]:
    """The calls, by run and step, that came in for a run after another one of them had begun."""
    own, over, last = set(runs), set[str](), ""
    found: list[str] = []
    for line in world.ledger.calls():
        run_id = line["run_id"]
        if run_id not in own:
            continue
        if run_id != last:
            over.add(last)
            last = run_id
        if run_id in over:
            found.append(f"{run_id} {line['name']}")
    return found


def most_at_once(lines: Iterable[Line]) -> int:
    """The most calls that were in flight at the same time, as the outside has counted."""
    most = now = 0
    for line in lines:
        now += {"call": 1, "end": -1}.get(line["what"], 0)
        most = max(most, now)
    return most


def turns(world: World) -> dict[str, str]:
    """Who has the turn and who waits, as it is stored."""
    return dict(world.query("SELECT run_id, state FROM turns"))
