"""What clients, webhooks and persons do in a walk, and how an owner dies."""

from __future__ import annotations

from collections.abc import Iterator

from saga.definition.spec import SagaSpec
from saga.machine.budgets import least_raise
from saga.machine.commands import Cancel, Decide, Lost, Report, Resolve, Signal
from saga.machine.state import RunState, step_of
from saga.machine.verdicts import verdicts
from saga.machine.ways import contract_of
from tests.machine.edges import Budget, Edge, latest
from tests.machine.world import UnderWay, World

__all__ = ["outsiders"]


def outsiders(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    """Clients, webhooks, persons, and the death of the owner."""
    if budget.crash:
        yield from _crash(spec, state, world, budget.less("crash"), now)
    if budget.cancel:
        command = Cancel(at=now, reason="changed my mind", actor="ada")
        yield Edge("cancel", world, budget.less("cancel"), command)
    if budget.decide:
        yield from _decisions(state, world, budget.less("decide"), now)
    if budget.signal:
        for step in spec.steps:
            if step.wait is not None and step.wait.signal:
                signal = Signal(at=now, wait=step.name, message="m", payload={"n": 1}, actor="ada")
                yield Edge(f"{step.name}: a signal", world, budget.less("signal"), signal)
    if budget.report:
        for key, landings in world.landings.items():
            report = Report(
                at=now,
                key=key,
                digest=state.actions[key].digest,
                attempt=0,
                receipt=landings[-1].receipt,
            )
            yield Edge(f"{key}: a webhook reports", world, budget.less("report"), report)
    if budget.verdict:
        yield from _verdicts(spec, state, world, budget.less("verdict"), now)


def _decisions(state: RunState, world: World, budget: Budget, now: float) -> Iterator[Edge]:
    """Two people decide what they were shown, whether or not that is still open."""
    for action in state.actions.values():
        if action.approval is None or action.superseded:
            continue
        for actor in action.approval.by:
            for approve in (True, False):
                decision = Decide(
                    at=now,
                    step=step_of(state.steps, action).name,
                    approve=approve,
                    version=action.approval.version,
                    digest=action.digest,
                    actor=actor,
                    reason="I looked",
                )
                words = "approves" if approve else "refuses"
                yield Edge(f"{actor} {words} {action.key}", world, budget, decision)


def _crash(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    """The owner dies, and its threads with it; what had left by then may still arrive."""
    flying = [
        (action, max(one.send_by, now) if one.threaded else one.send_by, one.threaded)
        for action in state.active.values()
        for one in action.open.values()
        if one.in_flight and (action.key, one.number) not in world.silent
    ]
    flying += [(state.actions[key], now, True) for key, _ in sorted(world.threads)]
    after = world.copy()
    after.threads.clear()
    after.silent.clear()
    yield Edge("the owner dies", after, budget, Lost(at=now), anyway=True)
    if flying:
        after = after.copy()
        for action, until, unbound in flying:
            after.under_way.append(UnderWay(action.key, latest(spec, action, until, now), unbound))
        yield Edge("the owner dies, its calls do not", after, budget, Lost(at=now), anyway=True)


def _verdicts(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    """A person who looks now, believes what is there, and decides at once."""
    for case in state.cases.values():
        action = state.actions[case.key]
        if case.state != "open":
            continue
        seen = world.shows(action, contract_of(spec, action), now)
        landings = world.landings.get(action.key, [])
        for verdict in verdicts(spec, state, case, now):
            if verdict == "landed" and not landings:
                continue
            if verdict in ("absent", "retry") and "absent" not in seen:
                continue
            after = world.copy()
            if verdict == "undone":
                after.take_back(action.of_key or action.key)
            command = Resolve(
                at=now,
                case=case.id,
                verdict=verdict,
                actor="ada",
                reason="I looked",
                case_version=case.version,
                looked_at=now,
                receipt=landings[-1].receipt if verdict == "landed" else None,
                evidence=least_raise(spec, state, action) if verdict == "raise" else "I did it",
            )
            yield Edge(f"{case.id}: {case.kind}, {verdict}", after, budget, command)
