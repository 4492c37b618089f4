"""What a run has used up of its budget, as it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from saga.definition.amounts import shown
from saga.definition.spec import ATTEMPTS, CALLS
from saga.journal.history import History
from saga.machine.budgets import limits

__all__ = ["Spent", "run_budget"]


@dataclass(frozen=True, slots=True)
class Spent:
    """One budget of a run: how much of it is used up; whole numbers for calls and attempts."""

    limit: Decimal | int
    spent: Decimal | int


def run_budget(history: History) -> dict[str, Spent]:
    """By name, how much of each budget of a run is used up."""
    spending = history.state.spending
    if spending is None:
        return {}
    return {
        name: Spent(int(limit), int(spending.spent[name]))
        if name in (CALLS, ATTEMPTS)
        else Spent(Decimal(shown(limit)), Decimal(shown(spending.spent[name])))
        for name, limit in limits(history.spec, history.state).items()
    }
