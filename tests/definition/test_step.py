"""Steps: name, effect, arguments and what takes them back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Compensation,
    Effect,
    Saga,
    Step,
    bind,
    input_of,
)
from tests.definition import order_flow
from tests.definition.order_flow import reserved
from tests.definition.trips import (
    BusinessTrip,
    Hotel,
    Suite,
    Trip,
    book,
    book_hotel,
    code_of,
    drop,
    drop_hotel,
    error_of,
    step,
    trip,
)


def test_the_five_minute_saga_declares_nothing_else() -> None:
    hotel = Step(
        "hotel",
        Effect("hotel.book", book),
        args=trip,
        compensation=Compensation("hotel.drop", drop),
    )
    flow = Saga("trip", trip, [hotel])
    assert flow.spec()["steps"][0]["args"] == {"ref": ["input"]}
    assert flow.spec()["steps"][0]["effect"]["provider"]["key_life"] is None
    assert flow.machine_spec.deadline is None


@pytest.mark.parametrize(
    "name", ["", "a b", "a/b", "a#b", ".", "input", "item", "x" * 65, None, 3], ids=range(10)
)
def test_a_step_has_a_name_of_its_own(name: Any) -> None:
    assert code_of(lambda: step(name)) == "bad-name"
    assert step("x" * 64).name == "x" * 64


def test_a_step_says_how_it_is_taken_back() -> None:
    error = error_of(lambda: Step("hotel", book_hotel, args=trip))  # type: ignore[call-arg]
    assert error.code == "no-compensation"
    assert "NothingToUndo" in error.remedy
    assert "Irreversible" in error.remedy
    for given in (None, "refund", drop, Compensation):
        assert code_of(lambda given=given: step(compensation=given)) == "no-compensation"  # type: ignore[misc]


@pytest.mark.parametrize("effect", [None, book, "hotel.book", drop_hotel], ids=range(4))
def test_a_step_uses_an_effect(effect: Any) -> None:
    assert code_of(lambda: step(effect=effect)) == "bad-step"


def test_the_arguments_are_those_of_the_effect_or_derived_ones() -> None:
    business = input_of(BusinessTrip)
    assert step(args=business).args.model is BusinessTrip
    assert (
        step(args=bind(BusinessTrip)(traveller="a", city="b", company="c")).args.model
        is BusinessTrip
    )
    for args in (input_of(Hotel), bind(Hotel)(booking_id="x"), Hotel(booking_id="x")):
        assert code_of(lambda args=args: step(args=args)) == "models-differ"  # type: ignore[misc]


def test_the_compensation_is_that_of_the_effect_or_a_wider_one() -> None:
    wide: Any = Compensation("u", lambda call: None, args=BaseModel, receipt=BaseModel)
    narrow_receipt: Any = Compensation("u", lambda call: None, args=Trip, receipt=Suite)
    narrow_args: Any = Compensation("u", lambda call: None, args=BusinessTrip, receipt=Hotel)
    assert step(compensation=wide).undo is wide
    assert code_of(lambda: step(compensation=narrow_receipt)) == "models-differ"
    assert code_of(lambda: step(compensation=narrow_args)) == "models-differ"
    assert code_of(lambda: step(compensation=order_flow.refund_card)) == "models-differ"


def test_a_step_can_be_copied() -> None:
    assert copy.copy(reserved).name == "reserve"
    assert copy.deepcopy(order_flow.order_flow).digest() == order_flow.order_flow.digest()


def test_a_title_is_one_printable_line() -> None:
    assert step(title="Hôtel").title == "Hôtel"
    for title in ("a\nb", "\x1b[0m", "x" * 201, None, "\ud800"):
        assert code_of(lambda title=title: step(title=title)) == "bad-text"  # type: ignore[misc]
    assert code_of(lambda: Saga("s", trip, [step()], title="a\tb")) == "bad-text"


# --- the saga ------------------------------------------------------------------------------
