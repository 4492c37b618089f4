"""What can happen next in a walk: to the run, outside, by others, and by time."""

from __future__ import annotations

from collections.abc import Iterator

from saga.definition.spec import SagaSpec
from saga.machine.commands import ProbeAnswer, Reply
from saga.machine.plan import AskNow, Plan
from saga.machine.state import Action, Attempt, RunState
from saga.machine.ways import contract_of
from tests.machine.edges import ERROR, Budget, Edge, latest, outlived
from tests.machine.orders import in_turn, order_for
from tests.machine.outsiders import outsiders
from tests.machine.world import UnderWay, World

__all__ = ["moves"]


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
    for todo in in_turn(planned):
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
    yield from outsiders(spec, state, world, budget, now)
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
        outside.under_way.append(UnderWay(key, latest(spec, action, attempt.send_by, now)))
        yield _reply(action, number, "unknown", outside, budget, now, words="left, nobody knows")
    if budget.straggler and contract_of(spec, action).provider.late_until is not None:
        until = attempt.send_by + (contract_of(spec, action).provider.late_until or 0.0)
        outside = world.copy()
        outside.under_way.append(UnderWay(key, until, late=True))
        left = budget.less("straggler")
        yield _reply(action, number, "unknown", outside, left, now, words="left, and will be late")
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
    if action.key not in world.refused and not outlived(spec, action, world, now):
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


def _outside(
    spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float
) -> Iterator[Edge]:
    for message in sorted(set(world.under_way)):
        action = state.actions[message.key]
        after = world.copy()
        after.under_way.remove(message)
        gone = message.unbound and outlived(spec, action, world, now)
        if message.key not in world.refused and not gone:
            after.land(state, action, contract_of(spec, action), now, late=message.late)
        yield Edge(f"{message.key}: arrives", after, budget)


def _time(
    state: RunState, world: World, budget: Budget, planned: Plan, now: float
) -> Iterator[Edge]:
    """One tick, unless something must happen before."""
    if state.rests and not world.under_way:
        return
    for action in state.active.values():
        if any(one.in_flight and one.send_by <= now for one in action.open.values()):
            return  # it is cut off now
    if planned.todo:
        if budget.slow:
            yield Edge("time passes, the owner is slow", world, budget.less("slow"), ticks=1.0)
    else:
        yield Edge("time passes", world, budget, ticks=1.0)
