"""A budget: what a run may use up before a person is asked; and what an effect costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from pydantic import BaseModel

from saga.definition.amounts import amount, shown
from saga.definition.models import fields_of
from saga.definition.names import check_name
from saga.definition.spec import ATTEMPTS, CALLS
from saga.errors import DefinitionError

__all__ = ["Budget", "Cost", "check_cost", "check_used", "cost_spec"]

Cost: TypeAlias = Mapping[str, str | int | Decimal]
"""By unit: the field of the arguments that says how much, or always so much."""

_MOST = 1_000_000


class Budget:
    """What a run may use up; what would exceed it is not begun, and a case asks a person.

    `calls`: everything that leaves for a provider: sendings, undos and probes included. `attempts`:
    sendings that go forward. `units`: by name, how much of what effects cost (`Effect(cost=…)`),
    a `Decimal` or an int. What has been left out has no limit.

    Undoing is counted and never held up. Limits are tuning; what is budgeted at all needs a new
    version of the saga. Raises `DefinitionError`.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        attempts: int | None = None,
        units: Mapping[str, Decimal | int] | None = None,
    ) -> None:
        self.limits: dict[str, Decimal] = {}
        for name, count in ((CALLS, calls), (ATTEMPTS, attempts)):
            if count is None:
                continue
            if type(count) is not int or not 1 <= count <= _MOST:
                told = f"its {name} are {count!r}"
                raise _bad(told, f"Give a whole number from 1 to {_MOST}")
            self.limits[name] = Decimal(count)
        for name, limit in (units or {}).items():
            check_name("unit", name)
            if name in (CALLS, ATTEMPTS):
                raise _bad(f"a unit is called {name!r}", f"Give {name}= beside units=")
            number = _number(limit)
            if number is None or number <= 0:
                told = f"its limit of {name} is {limit!r}"
                raise _bad(told, "Give a Decimal or an int of more than 0")
            self.limits[name] = number
        if not self.limits:
            raise _bad("it limits nothing", "Give calls=, attempts= or units=")

    def spec(self) -> dict[str, str]:
        """This budget in the specification: each limit as exact text."""
        return {name: shown(limit) for name, limit in self.limits.items()}


def check_cost(model: type[BaseModel], cost: Cost, what: str) -> dict[str, str | Decimal]:
    """What an effect costs, if its arguments can say so exactly. Raises `DefinitionError`."""
    if not isinstance(cost, Mapping):
        raise DefinitionError(
            "bad-cost", f"{what}: its cost is no dict", remedy='Write cost={"EUR": "amount"}'
        )
    checked: dict[str, str | Decimal] = {}
    for unit, price in cost.items():
        check_name("unit", unit)
        checked[unit] = _price(model, unit, price, what)
    return checked


def _price(model: type[BaseModel], unit: str, price: object, what: str) -> str | Decimal:
    if unit in (CALLS, ATTEMPTS):
        raise DefinitionError(
            "bad-cost",
            f"{what}: it costs {unit}, which are counted as they are made",
            remedy="Give the unit another name",
        )
    if not isinstance(price, str):
        number = _number(price)
        if number is None or number < 0:
            raise DefinitionError(
                "bad-cost",
                f"{what}: it costs {price!r} {unit}",
                remedy="Give the name of a field, or a Decimal or an int of 0 or more",
            )
        return number
    forms = fields_of(model)
    if price not in forms:
        raise DefinitionError(
            "unknown-cost",
            f"{what}: its cost in {unit}, {price!r}, is no field of {model.__qualname__}",
            remedy=f"Name one of: {', '.join(forms)}",
        )
    if forms[price] == "float":
        raise DefinitionError(
            "float-cost",
            f"{what}: its cost in {unit}, {price!r} of {model.__qualname__}, is a float",
            remedy="Use Decimal, or int in the smallest unit",
        )
    if forms[price] not in ("decimal", "int"):
        raise DefinitionError(
            "bad-cost",
            f"{what}: its cost in {unit}, {price!r} of {model.__qualname__}, is no number, or "
            "need not be there",
            remedy="Name a required field that is a Decimal or an int",
        )
    return price


def check_used(saga: str, budget: Budget | None, costs: Sequence[Mapping[str, object]]) -> None:
    """Every unit of a budget is one that an effect costs; else it is misspelt."""
    if budget is not None and not isinstance(budget, Budget):
        raise _bad(f"saga {saga!r} was given {budget!r}", "Write budget=Budget(calls=…)")
    for name in () if budget is None else budget.limits:
        if name not in (CALLS, ATTEMPTS) and not any(name in cost for cost in costs):
            there = ", ".join(sorted({unit for cost in costs for unit in cost})) or "none"
            told = f"saga {saga!r} limits {name!r}, and no effect of it costs any"
            raise _bad(told, f'Give an Effect cost={{"{name}": …}}; there are now: {there}')


def cost_spec(cost: Mapping[str, str | Decimal], budget: Budget | None) -> dict[str, Any]:
    """What an effect costs of the units of a budget, for the specification of its step."""
    rows = {
        unit: {"field": price} if isinstance(price, str) else {"always": shown(price)}
        for unit, price in cost.items()
        if budget is not None and unit in budget.limits
    }
    return {"cost": rows} if rows else {}


def _number(given: object) -> Decimal | None:
    return amount(given) if isinstance(given, int | Decimal) else None


def _bad(what: str, remedy: str) -> DefinitionError:
    return DefinitionError("bad-budget", f"budget: {what}", remedy=remedy)
