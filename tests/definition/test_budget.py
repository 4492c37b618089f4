"""Budgets as data: exact limits, exact costs, and nothing that counts for nothing unseen."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from saga import App, Budget, Call, Effect, NothingToUndo, Saga, Step, SubSaga, input_of
from saga.definition import difference
from saga.definition.amounts import amount, shown, total
from saga.machine.state import new_state
from tests.definition.trips import code_of, error_of, step, trip


class Charge(BaseModel):
    amount: Annotated[Decimal, Field(ge=0)]
    pieces: int
    weight: float = 0.0
    note: str = ""
    tip: Decimal | None = None


class Done(BaseModel):
    id: str


async def charge(call: Call[Charge]) -> Done:
    return Done(id=call.key)


order = input_of(Charge)


def flow(budget: Budget | None = None, **cost: Any) -> Saga[Charge]:
    effect = Effect("pay.charge", charge, cost=cost)
    charged = Step("charge", effect, args=order, compensation=NothingToUndo("no way back"))
    return Saga("pay", order, [charged], budget=budget)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"calls": 0},
        {"calls": True},
        {"calls": 1.5},
        {"attempts": -1},
        {"units": {}},
        {"units": {"EUR": 1.5}},
        {"units": {"EUR": "1.5"}},
        {"units": {"EUR": 0}},
        {"units": {"EUR": True}},
        {"units": {"EUR": Decimal("NaN")}},
        {"units": {"EUR": Decimal("1E+40")}},
        {"units": {"calls": 3}},
    ],
    ids=str,
)
def test_a_limit_is_a_whole_number_or_exact_and_limits_something(given: dict[str, Any]) -> None:
    assert code_of(lambda: Budget(**given)) == "bad-budget"


@pytest.mark.parametrize(
    ("price", "code"),
    [
        ("amout", "unknown-cost"),
        ("weight", "float-cost"),
        ("note", "bad-cost"),
        ("tip", "bad-cost"),  # it need not be there
        (1.5, "bad-cost"),
        (-1, "bad-cost"),
        (None, "bad-cost"),
    ],
    ids=str,
)
def test_a_cost_is_a_number_or_a_field_that_surely_holds_one(price: Any, code: str) -> None:
    assert code_of(lambda: Effect("pay.charge", charge, cost={"EUR": price})) == code


def test_a_cost_names_its_unit() -> None:
    assert code_of(lambda: Effect("pay.charge", charge, cost={"a b": 1})) == "bad-name"
    assert code_of(lambda: Effect("pay.charge", charge, cost={"calls": 1})) == "bad-cost"
    assert code_of(lambda: Effect("pay.charge", charge, cost="amount")) == "bad-cost"  # type: ignore[arg-type]


def test_a_unit_that_nothing_costs_is_misspelt() -> None:
    error = error_of(lambda: flow(Budget(units={"EURO": 5}), EUR="amount"))
    assert error.code == "bad-budget"
    assert "EUR" in error.remedy
    assert code_of(lambda: Saga("t", trip, [step()], budget=5)) == "bad-budget"  # type: ignore[arg-type]


def test_what_is_budgeted_is_meaning_and_how_much_is_tuning() -> None:
    narrow = flow(Budget(calls=4, units={"EUR": Decimal("1.50")}), EUR="amount", mails=1)
    wide = flow(Budget(calls=9, units={"EUR": Decimal(20)}), EUR="amount", mails=1)
    other = flow(Budget(calls=4), EUR="amount")
    assert narrow.digest() == wide.digest() != other.digest()
    (second, first) = difference(narrow.spec(), wide.spec())
    assert (str(first), first.meaning) == ("budget calls was 4, is 9", False)
    assert (str(second), second.meaning) == ("budget EUR was 1.50, is 20", False)
    assert all(change.meaning for change in difference(narrow.spec(), other.spec()))


def test_only_what_is_budgeted_is_in_the_specification() -> None:
    plain = flow(EUR="amount", mails=1)
    assert "budget" not in plain.spec()
    assert plain.digest() == flow().digest()
    assert new_state(plain.machine_spec).spending is None
    spec = flow(Budget(units={"EUR": 5, "mails": 2}), EUR="amount", mails=1, km="pieces").spec()
    assert spec["budget"] == {"EUR": "5", "mails": "2"}
    assert spec["steps"][0]["effect"]["cost"] == {
        "EUR": {"field": "amount"},
        "mails": {"always": "1"},
    }


def test_another_price_is_another_meaning() -> None:
    budget = Budget(units={"EUR": 5})
    assert flow(budget, EUR="amount").digest() != flow(budget, EUR="pieces").digest()
    steps = [
        Step(name, Effect("pay.charge", charge, cost=cost), args=order, compensation=undo)
        for name, cost in (("a", {"EUR": 1}), ("b", {"EUR": 2}))
        for undo in (NothingToUndo("-"),)
    ]
    assert code_of(lambda: Saga("pay", order, steps)) == "label-twice"


def test_a_run_has_one_budget() -> None:
    part = flow(Budget(calls=5))
    assert code_of(lambda: SubSaga("part", part, args=order)) == "sub-budget"
    assert repr(App(part)) == "<App of pay>"


@pytest.mark.parametrize(
    "value", [1.0, True, None, "", "x", "NaN", "1e40", "0." + "0" * 18 + "1", 10**21, [], "9" * 65]
)
def test_what_is_no_amount_is_never_taken_for_one(value: Any) -> None:
    assert amount(value) is None


def test_amounts_are_added_exactly() -> None:
    most, least = amount("9" * 21), amount("0." + "0" * 17 + "1")
    assert most is not None
    assert least is not None
    assert shown(total(most, least, 3)) == "9" * 21 + "." + "0" * 17 + "3"
    assert shown(Decimal("1E+2")) == "100"
