"""The law about budgets: never exceeded, by looking at all actions, not at what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Intended, Sending
from saga.machine.budget_events import BudgetRaised, ProbeBegun
from saga.machine.commands import Command, Resolve
from saga.machine.events import CaseOpened, Event
from saga.machine.forward import leads_on
from saga.machine.plan import AskNow, Plan
from saga.machine.spending import Spending
from saga.machine.state import FORWARD, Action, RunState, step_of
from tests.machine.world import LawBroken

__all__ = [
    "calls_counted",
    "counted",
    "fork_spending",
    "ledger",
    "within_budget",
]


def fork_spending(spending: Spending | None) -> Spending | None:
    """A copy that shares nothing that changes."""
    if spending is None:
        return None
    return replace(
        spending,
        spent=dict(spending.spent),
        raised=dict(spending.raised),
        charged=dict(spending.charged),
        asking=set(spending.asking),
    )


def ledger(spec: SagaSpec, state: RunState, probes: int) -> dict[str, Decimal]:
    """What is used up, summed over everything there is."""
    used: dict[str, Decimal] = {}
    actions = state.actions.values()
    forward = [action for action in actions if action.direction == FORWARD]
    used["calls"] = Decimal(sum(action.attempts for action in actions) + probes)
    used["attempts"] = Decimal(sum(action.attempts for action in forward))
    for action in forward:
        for unit, cost in _costs(spec, action):
            times = len(action.others) + (not _nothing_landed(action))
            used[unit] = used.get(unit, Decimal(0)) + cost * times
    return {name: used.get(name, Decimal(0)) for name, _ in spec.budget}


def _costs(spec: SagaSpec, action: Action) -> list[tuple[str, Decimal]]:
    found = []
    if action.args is None:  # it could not be frozen, and costs nothing
        return []
    for unit, price in step_of(spec.steps, action).effect.cost:
        cost = price if isinstance(price, Decimal) else Decimal(action.args[price])
        found.append((unit, max(cost, Decimal(0))))
    return found


def _nothing_landed(action: Action) -> bool:
    """Surely, as far as anybody can tell: it never left, or every attempt of it did nothing."""
    if action.watch is not None or action.state == "landed" or action.undone:
        return False
    return action.attempts == 0 or action.state in ("refused", "absent", "skipped")


def within_budget(spec: SagaSpec, state: RunState, event: Event, command: Command) -> None:
    """`event` may follow on `state`, which it has not been applied to."""
    spending = state.spending
    assert spending is not None
    probes = int(spending.spent.get("calls", 0)) - sum(a.attempts for a in state.actions.values())
    used = ledger(spec, state, probes)
    if used != spending.spent:
        raise LawBroken("budget", f"{spending.spent} is counted, and {used} used up")
    match event:
        case BudgetRaised():
            if not isinstance(command, Resolve) or command.verdict != "raise":
                raise LawBroken("budget", f"raised by {command}")
        case Intended() if event.of_key is None and _asked(state):
            raise LawBroken("budget", f"{event.key} begins while a person is asked")
        case CaseOpened() if event.case_kind == "budget":
            if _asked(state) or _stopped(spec, state, state.actions[event.key]):
                raise LawBroken("budget", "a second case, or one that holds up the undoing")
            takes = [("calls", Decimal(1)), ("attempts", Decimal(1))]
            takes += _costs(spec, state.actions[event.key])
            if not any(_over(spec, state, used, name, cost) for name, cost in takes):
                raise LawBroken("budget", f"a case, and there is room: {used}")
        case Sending() | ProbeBegun():
            _begun(spec, state, event, used)
        case _:
            pass


def _begun(
    spec: SagaSpec, state: RunState, event: Sending | ProbeBegun, used: dict[str, Decimal]
) -> None:
    action = state.actions[event.key]
    if action.direction != FORWARD or _stopped(spec, state, action):
        return
    takes = [("calls", Decimal(1))]
    if isinstance(event, Sending):
        takes.append(("attempts", Decimal(1)))
        takes += _costs(spec, action) if _nothing_landed(action) else []
    for name, cost in takes:
        if cost and _over(spec, state, used, name, cost):
            raise LawBroken("budget", f"{event} exceeds {name}: {used}")


def _over(
    spec: SagaSpec, state: RunState, used: dict[str, Decimal], name: str, cost: Decimal
) -> bool:
    assert state.spending is not None
    most = dict(spec.budget) | state.spending.raised
    return name in most and used[name] + cost > most[name]


def _stopped(spec: SagaSpec, state: RunState, action: Action) -> bool:
    stopping = state.cancel is not None or state.deadline_passed
    if not leads_on(state, step_of(spec.steps, action)):
        return True
    return state.phase != "running" or (stopping and not state.past_pivot)


def _asked(state: RunState) -> bool:
    cases = state.cases.values()
    return any(case.kind == "budget" and case.state == "open" for case in cases)


def calls_counted(state: RunState) -> Decimal | None:
    """The calls that are counted; `None` where they are not budgeted."""
    return None if state.spending is None else state.spending.spent.get("calls")


def counted(
    before: Decimal | None, events: Sequence[Event], after: RunState, planned: Plan
) -> None:
    """Every sending and every probe on record is one call more, and nothing else is."""
    calls = calls_counted(after)
    if before is None or calls is None:
        return
    begun = sum(isinstance(event, ProbeBegun | Sending) for event in events)
    if calls - before != begun:
        raise LawBroken("budget", f"{calls - before} calls are counted, {begun} are on record")
    _never_asked_unrecorded(after, planned)


def _never_asked_unrecorded(state: RunState, planned: Plan) -> None:
    """Where calls are budgeted a probe is on record before it is made."""
    if state.spending is None or calls_counted(state) is None:
        return
    for todo in planned.todo:
        if isinstance(todo, AskNow) and todo.key not in state.spending.asking:
            raise LawBroken("budget", f"{todo.key} is asked about, and nothing is on record")
