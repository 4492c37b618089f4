"""The budget of a run: what would exceed it, who waits for that, and what a person may do.

What would exceed it is not begun. The first to meet it has a case; while that is open nothing new
begins, and what has begun goes on as far as the budget allows. Once a run is stopped no budget
holds it up any more: undos, and whatever settles an unknown, are counted and always made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from saga.definition.amounts import amount, shown, total
from saga.definition.keys import place_of
from saga.definition.spec import ATTEMPTS, CALLS, ContractSpec, SagaSpec
from saga.machine.budget_events import BudgetRaised, ProbeEnded
from saga.machine.commands import Rejected
from saga.machine.events import Event
from saga.machine.facts import Json
from saga.machine.forward import leads_on, stopped
from saga.machine.spending import costs
from saga.machine.state import FORWARD, Action, RunState, step_of

__all__ = [
    "awaits_raise",
    "budget_text",
    "counts_probes",
    "ended_probe",
    "exceeded",
    "held_up",
    "is_asked",
    "least_raise",
    "limits",
    "lost_probes",
    "raised",
    "stands_back",
    "too_much",
]

_ONE = Decimal(1)
_FORM = 'NAME=LIMIT, as in "calls=60" or "EUR=150.00", more than one with commas'
_RAISE = re.compile(r"\s*([A-Za-z0-9._:-]+)\s*=\s*([0-9]+(?:\.[0-9]+)?)\s*")


@dataclass(frozen=True, slots=True)
class _Excess:
    """A budget that something would exceed."""

    name: str
    limit: Decimal
    spent: Decimal
    takes: Decimal

    @property
    def needed(self) -> Decimal:
        """The least limit that would allow it."""
        return total(self.spent, self.takes)


def limits(spec: SagaSpec, state: RunState) -> dict[str, Decimal]:
    """How much may be used up in this run: as defined, or as far as a person has raised it."""
    more = {} if state.spending is None else state.spending.raised
    return {name: max(limit, more.get(name, limit)) for name, limit in spec.budget}


def counts_probes(state: RunState) -> bool:
    """Whether a probe is recorded before it is made."""
    return state.spending is not None and CALLS in state.spending.spent


def is_asked(state: RunState, action: Action) -> bool:
    """Whether a probe of an action is on record and has not ended."""
    return state.spending is not None and action.key in state.spending.asking


def awaits_raise(state: RunState) -> bool:
    """Whether a person is asked about the budget: nothing new begins until then."""
    return state.spending is not None and state.spending.case is not None


def held_up(state: RunState, action: Action) -> bool:
    """Whether a budget can keep this action from anything at all."""
    if state.spending is None or action.direction != FORWARD or stopped(state):
        return False
    return leads_on(state, step_of(state.steps, action))


def stands_back(state: RunState, action: Action) -> bool:
    """Whether the case about the budget is open, and another action's."""
    return state.spending is not None and state.spending.case not in (None, action.case)


def exceeded(
    spec: SagaSpec, state: RunState, action: Action, *, probe: bool = False
) -> list[_Excess]:
    """What one more probe or sending of an action would exceed."""
    spending = state.spending
    if spending is None or not held_up(state, action):
        return []
    if probe:
        return [] if is_asked(state, action) else _excess(spec, state, [(CALLS, _ONE)])
    contract = step_of(spec.steps, action).effect
    charged = spending.charged.get(action.key, 0) > len(action.others)
    return _excess(spec, state, _takes(contract, action.args, charged=charged))


def too_much(spec: SagaSpec, state: RunState, contract: ContractSpec, args: Json) -> bool:
    """Whether the first sending of a new intent would exceed the budget."""
    return bool(spec.budget and _excess(spec, state, _takes(contract, args, charged=False)))


def _takes(contract: ContractSpec, args: Json, *, charged: bool) -> Iterator[tuple[str, Decimal]]:
    yield CALLS, _ONE
    yield ATTEMPTS, _ONE
    if not charged:
        yield from costs(contract, args)


def _excess(
    spec: SagaSpec,
    state: RunState,
    takes: Iterable[tuple[str, Decimal]],
) -> list[_Excess]:
    assert state.spending is not None
    spent, most = state.spending.spent, limits(spec, state)
    return [
        _Excess(name, most[name], spent[name], cost)
        for name, cost in takes
        if cost and name in most and total(spent[name], cost) > most[name]
    ]


def _wanted(spec: SagaSpec, state: RunState, action: Action) -> list[_Excess]:
    """What keeps an action that has the case: a probe of an unknown one, else a sending."""
    if action.state == "unknown" and step_of(spec.steps, action).effect.probe:
        found = exceeded(spec, state, action, probe=True)
        if found:
            return found
    return exceeded(spec, state, action)


def least_raise(spec: SagaSpec, state: RunState, action: Action) -> str:
    """The least that a person must say so that an action goes on: where a higher limit has been
    deployed since, the limits as they are.
    """
    wanted = _wanted(spec, state, action)
    least = {one.name: one.needed for one in wanted} or limits(spec, state)
    return ", ".join(f"{name}={shown(limit)}" for name, limit in least.items())


def budget_text(spec: SagaSpec, state: RunState, action: Action) -> str:
    """The text of a case: what is not begun, which budget, what is spent, what it would take."""
    step = step_of(spec.steps, action)
    what = f"{place_of(step.name, action.item)} ({step.effect.label})"
    wanted = _wanted(spec, state, action)
    if action.state == "unknown":
        settles = "asking the provider" if step.effect.probe else "sending it again"
        lead = f"Nobody can say whether {what} happened, and {settles} would exceed the budget: "
    else:
        again = " again" if action.attempts else ""
        lead = f"It would exceed the budget to send {what}{again}: "
    parts = [
        f"it takes {shown(one.takes)} {one.name}, and {shown(one.spent)} of {shown(one.limit)} "
        "are used up"
        for one in wanted
    ]
    return f"{lead}{'; '.join(parts)}. Nothing new begins until somebody has decided."


def raised(
    spec: SagaSpec, state: RunState, action: Action, evidence: str | None
) -> list[Event] | str:
    """The limits that a person has given in words, as events; or what is wrong with them."""
    most, wanted = limits(spec, state), _wanted(spec, state, action)
    events: list[Event] = []
    given: dict[str, Decimal] = {}
    for part in (evidence or "").split(","):
        found = _RAISE.fullmatch(part)
        limit = amount(found[2]) if found else None
        if found is None or limit is None:
            return f"raise needs the new limit as evidence: {_FORM}"
        name = found[1]
        if name not in most:
            return f"this saga has no budget {name!r}; it has {', '.join(most)}"
        if name in (CALLS, ATTEMPTS) and limit % 1:
            return f"{name} are counted in whole numbers"
        if limit <= most[name] and wanted:
            return f"{name} may be up to {shown(most[name])} already: give more"
        given[name] = limit
        events.append(BudgetRaised(budget=name, limit=found[2]))
    for one in wanted:
        if one.needed > given.get(one.name, one.limit):
            return f"that is not enough: it takes at least {one.name}={shown(one.needed)}"
    return events


def ended_probe(
    state: RunState, key: str, answer: list[Event] | Rejected
) -> list[Event] | Rejected:
    """What an answer means, and that the probe which is on record has ended with it."""
    if state.spending is None or key not in state.spending.asking:
        return answer
    told = [] if isinstance(answer, Rejected) else answer
    return [*told, ProbeEnded(key=key)]


def lost_probes(state: RunState, keys: Collection[str] | None) -> list[Event]:
    """The process that asked is gone: nobody waits for these answers any more."""
    asking = () if state.spending is None else sorted(state.spending.asking)
    return [ProbeEnded(key=key) for key in asking if keys is None or key in keys]
