"""What a run has used up of its budget: the fold of its intents, sendings and probes.

Calls and attempts are counted as they are recorded, so before they are made, and never given back.
What an effect costs is charged with its first sending, once for each intent, and counts for as long
as it may have landed or still may: it is given back when the action is refused or proven absent and
no straggler of it can land any more. What was undone stays charged; a second effect is charged too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from saga.definition.amounts import amount, total
from saga.definition.spec import ATTEMPTS, CALLS, ContractSpec
from saga.machine.action_events import Sending
from saga.machine.budget_events import BudgetRaised, ProbeBegun, ProbeEnded
from saga.machine.events import CaseClosed, CaseOpened, Event
from saga.machine.facts import Json

if TYPE_CHECKING:
    from saga.machine.state import Action, RunState

__all__ = ["Spending", "costs", "tally"]

_NOTHING = Decimal(0)
_UNREADABLE = Decimal(10**22)  # more than any limit: what cannot be read is never taken for little


@dataclass(slots=True)
class Spending:
    """Counted from the first event on, for what the definition budgets and nothing else."""

    spent: dict[str, Decimal]  # by name: calls, attempts, units
    raised: dict[str, Decimal] = field(default_factory=dict)  # limits that a person has raised
    charged: dict[str, int] = field(default_factory=dict)  # by key: for how many effects
    asking: set[str] = field(default_factory=set)  # keys whose probe has begun and not ended
    case: str | None = None  # the open one about the budget: at most one

    def use(self, name: str) -> None:
        """One more of what is counted one by one, if it is budgeted."""
        if name in self.spent:
            self.spent[name] += 1


def costs(contract: ContractSpec, args: Json) -> Iterator[tuple[str, Decimal]]:
    """What one sending of an intent costs, by unit. Less than nothing counts as nothing."""
    for unit, price in contract.cost:
        if isinstance(price, Decimal):
            yield unit, price
            continue
        number = amount(args.get(price)) if isinstance(args, dict) else None
        yield unit, max(_UNREADABLE if number is None else number, _NOTHING)


def tally(state: RunState, spending: Spending, event: Event) -> None:
    """Count `event`, which has been applied to the state."""
    match event:
        case BudgetRaised():
            spending.raised[event.budget] = Decimal(event.limit)
            return
        case CaseOpened() if event.case_kind == "budget":
            spending.case = event.case
        case CaseClosed():
            spending.case = None if event.case == spending.case else spending.case
            _charge(state, spending, state.actions[state.cases[event.case].key])
        case ProbeBegun():
            spending.use(CALLS)
            spending.asking.add(event.key)
        case ProbeEnded():
            spending.asking.discard(event.key)
        case Sending():
            spending.use(CALLS)
            if state.actions[event.key].of_key is None:
                spending.use(ATTEMPTS)
        case _:
            pass
    key = getattr(event, "key", None)
    if key is not None:
        _charge(state, spending, state.actions[key])


def _charge(state: RunState, spending: Spending, action: Action) -> None:
    contract = state.steps[action.step].choice(action.choice).effect
    if action.of_key is not None or not contract.cost:
        return
    count = len(action.others) + _may_have_landed(action)
    change = count - spending.charged.get(action.key, 0)
    if change:
        spending.charged[action.key] = count
        for unit, cost in costs(contract, action.args):
            spending.spent[unit] = total(spending.spent[unit], cost, change)


def _may_have_landed(action: Action) -> bool:
    if action.state == "landed" or action.watch is not None or action.undone:
        return True
    return action.attempts > 0 and action.state not in ("refused", "absent", "skipped")
