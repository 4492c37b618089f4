"""What can happen next in a walk: to the run, outside, by others, and by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from saga.definition.spec import SagaSpec
from saga.machine.commands import Cancel, Command, Lost, ProbeAnswer, Reply, Report, Resolve
from saga.machine.plan import AskNow, Plan
from saga.machine.state import Action, Attempt, RunState
from saga.machine.verdicts import verdicts
from saga.machine.ways import contract_of
from tests.machine.orders import order_for
from tests.machine.world import UnderWay, World

__all__ = ["Budget", "Edge", "moves"]

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


def moves(
    spec: SagaSpec,
    state: RunState,
    world: World,
    budget: Budget,
    planned: Plan,
    now: float,
    *,
    threaded: bool,
) -> Iterator[Edge]:
    """Everything that can happen now. What must land by now lands before anything else."""
    if any(message.latest <= now for message in world.under_way):
        yield from _outside(spec, state, world, budget, now)
        return
    for todo in planned.todo:
        if not isinstance(todo, AskNow):
            order = order_for(state, todo, now, threaded=threaded)
            yield Edge(f"{todo}", world, budget, order, surely=True)
        else:
            yield from _answers(spec, state.actions[todo.key], world, budget, now)
    for action in state.active.values():
        for attempt in action.open.values():
            if attempt.in_flight:
                yield from _ends(spec, state, action, attempt, world, budget, now)
    for key, number in sorted(world.threads):
        yield from _returns(spec, state, state.actions[key], number, world, budget, now)
    yield from _outside(spec, state, world, budget, now)
    yield from _others(spec, state, world, budget, now)
    yield from _time(state, world, budget, planned, now)


def _answers(
    spec: SagaSpec, action: Action, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    contract = contract_of(spec, action)
    for answer in sorted(world.shows(action, contract, now)):
        receipt = world.landings[action.key][0].receipt if answer == "landed" else None
        command = ProbeAnswer(at=now, key=action.key, started=now, answer=answer, receipt=receipt)
        yield Edge(f"{action.key}: probe {answer}", world, budget, command, surely=True)
    if budget.unsure:
        left = budget.less("unsure")
        for answer in ("cannot_say", "in_progress"):
            command = ProbeAnswer(at=now, key=action.key, started=now, answer=answer)
            yield Edge(f"{action.key}: probe {answer}", world, left, command, surely=True)


def _ends(
    spec: SagaSpec,
    state: RunState,
    action: Action,
    attempt: Attempt,
    world: World,
    budget: Budget,
    now: float,
) -> Iterator[Edge]:
    """How the call of an attempt can end, for all that the owner and the outside know."""
    contract, key, number = contract_of(spec, action), action.key, attempt.number
    if (key, number) in world.silent:
        outside = world.copy()
        outside.silent.remove((key, number))
        yield _reply(action, number, "unknown", outside, budget, now, words="no answer comes")
        return
    known = world.remembers(action, contract, now)
    if key not in world.refused:
        outside = world.copy()
        receipt = outside.land(state, action, contract, now)
        yield _reply(action, number, "landed", outside, budget, now, receipt=receipt)
    if key in world.refused or (budget.refused and known is None and not world.landings.get(key)):
        outside = world.copy()
        left = budget if key in world.refused else budget.less("refused")
        if contract.provider.replays_refusals and contract.provider.honours_keys:
            outside.refused.add(key)
        yield _reply(action, number, "refused", outside, left, now)
    if budget.not_sent:
        yield _reply(action, number, "not_sent", world, budget.less("not_sent"), now)
    if budget.unknown:
        yield from _unknown_ends(spec, state, action, attempt, world, budget.less("unknown"), now)


def _unknown_ends(
    spec: SagaSpec,
    state: RunState,
    action: Action,
    attempt: Attempt,
    world: World,
    budget: Budget,
    now: float,
) -> Iterator[Edge]:
    key, number = action.key, attempt.number
    yield _reply(action, number, "unknown", world, budget, now, words="nothing left, nobody knows")
    if key not in world.refused:
        outside = world.copy()
        outside.land(state, action, contract_of(spec, action), now)
        outside.silent.add((key, number))
        yield Edge(f"{key}#{number}: carried out, and no answer will come", outside, budget)
        outside = world.copy()
        outside.under_way.append(UnderWay(key, _latest(spec, action, attempt.send_by, now)))
        yield _reply(action, number, "unknown", outside, budget, now, words="left, nobody knows")
    if attempt.threaded:
        outside = world.copy()
        outside.threads.add((key, number))
        edge = _reply(action, number, "running", outside, budget, now)
        yield edge


def _returns(
    spec: SagaSpec,
    state: RunState,
    action: Action,
    number: int,
    world: World,
    budget: Budget,
    now: float,
) -> Iterator[Edge]:
    """How a call ends that went on in its thread."""
    outside = world.copy()
    outside.threads.remove((action.key, number))
    yield _reply(action, number, "unknown", outside, budget, now, words="its thread returns")
    if action.key not in world.refused and not _outlived(spec, action, world, now):
        outside = outside.copy()
        receipt = outside.land(state, action, contract_of(spec, action), now)
        yield _reply(action, number, "landed", outside, budget, now, receipt=receipt)


def _reply(
    action: Action,
    number: int,
    result: str,
    world: World,
    budget: Budget,
    now: float,
    *,
    receipt: str | None = None,
    words: str = "",
) -> Edge:
    """The owner tells what became of a call. Whether it is taken or not, it has happened."""
    command = Reply(
        at=now,
        key=action.key,
        attempt=number,
        result="unknown" if result == "running" else result,
        receipt=receipt,
        error=None if result == "landed" else ERROR,
        running=result == "running",
    )
    label = f"{action.key}#{number}: {words or result}"
    return Edge(label, world, budget, command, anyway=True)


def _outlived(spec: SagaSpec, action: Action, world: World, now: float) -> bool:
    """A request that nobody could cut off comes when its key is forgotten: a second effect.

    No rule of the machine can prevent that, so the walk leaves it out; the documentation names it.
    """
    known = world.remembers(action, contract_of(spec, action), now)
    return known is None and bool(world.landings.get(action.key))


def _latest(spec: SagaSpec, action: Action, until: float, now: float) -> float:
    """When a request that could leave until `until` lands at the latest.

    Where nothing is declared it lands at once: nobody could protect a run from more.
    """
    in_flight = contract_of(spec, action).provider.in_flight
    return now if in_flight is None else max(until + in_flight, now)


def _outside(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    for message in sorted(set(world.under_way)):
        action = state.actions[message.key]
        after = world.copy()
        after.under_way.remove(message)
        gone = message.unbound and _outlived(spec, action, world, now)
        if message.key not in world.refused and not gone:
            after.land(state, action, contract_of(spec, action), now)
        yield Edge(f"{message.key}: arrives", after, budget)


def _others(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    """Clients, webhooks, persons, and the death of the owner."""
    if budget.crash:
        yield from _crash(spec, state, world, budget.less("crash"), now)
    if budget.cancel:
        command = Cancel(at=now, reason="changed my mind", actor="ada")
        yield Edge("cancel", world, budget.less("cancel"), command)
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
            after.under_way.append(UnderWay(action.key, _latest(spec, action, until, now), unbound))
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
        for verdict in verdicts(spec, state, case):
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
                evidence="I did it" if verdict == "undone" else None,
            )
            yield Edge(f"{case.id}: {case.kind}, {verdict}", after, budget, command)


def _time(
    state: RunState, world: World, budget: Budget, planned: Plan, now: float
) -> Iterator[Edge]:
    """One tick, unless something must happen before."""
    if state.phase == "ended" and not world.under_way:
        return
    for action in state.active.values():
        if any(one.in_flight and one.send_by <= now for one in action.open.values()):
            return  # it is cut off now
    if planned.todo:
        if budget.slow:
            yield Edge("time passes, the owner is slow", world, budget.less("slow"), ticks=1.0)
    else:
        yield Edge("time passes", world, budget, ticks=1.0)
