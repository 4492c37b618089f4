"""Receipts and arguments as they are stored, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    Field,
    field_serializer,
    model_validator,
)

from saga import Call, Effect, NothingToUndo, Step, input_of
from saga.definition import (
    BadJson,
    arguments,
    arguments_json,
    read_arguments,
    read_input,
    read_receipt,
    receipt_json,
    strict_loads,
)
from saga.definition.values import any_json
from saga.errors import BadInput
from tests.definition.everything import (
    SECRET,
    Everything,
    saga,
    step,
    undo,
)


class Hold(BaseModel):
    hold_id: str
    until: datetime | None = None
    price: Decimal | None = None
    ratio: float | None = None


class LongHold(Hold):
    reason: str = "because"


def hold(call: Call[Everything]) -> Hold:
    raise NotImplementedError


hold_effect = Effect("hold", hold)


def test_a_receipt_is_an_instance_of_its_model_or_a_dict_that_fits() -> None:
    expected = {"hold_id": "h", "until": None, "price": None, "ratio": None}
    assert receipt_json(hold_effect, Hold(hold_id="h")) == expected
    assert receipt_json(hold_effect, {"hold_id": "h", "more": "from the provider"}) == expected
    # Derived: only what the declared model has is a receipt.
    assert receipt_json(hold_effect, LongHold(hold_id="h")) == expected


def test_the_time_of_a_receipt_may_lack_an_offset() -> None:
    """It is what the provider said; refusing it would make a landed effect unknown."""
    naive = Hold(hold_id="h", until=datetime(2026, 1, 2))  # noqa: DTZ001
    assert receipt_json(hold_effect, naive) == {
        "hold_id": "h",
        "until": "2026-01-02T00:00:00",
        "price": None,
        "ratio": None,
    }


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "NoneType is no Hold"),
        ("h", "str is no Hold"),
        (Everything(), "Everything is no Hold"),
        ({"id": SECRET}, "hold_id: is missing"),
        ({"hold_id": "\ud800"}, "hold_id: text with a lone surrogate"),
        ({"hold_id": "\0"}, "hold_id: text with U+0000"),
        ({"hold_id": 10**5000}, "4300 digits"),
        (Hold(hold_id="\0"), "hold_id: text with U+0000"),
        (Hold(hold_id="\ud800"), "hold_id: text with a lone surrogate"),
        (Hold(hold_id="h", ratio=float("nan")), "ratio: not a finite number"),
        (Hold(hold_id="h", price=Decimal("1E+9999")), "price: not a finite decimal"),
        (Hold.model_construct(hold_id=7), "no JSON form"),
        (Hold.model_construct(), "hold_id: is missing"),
        (Hold.model_construct(hold_id=object()), "no JSON form"),
        (Hold, "is no Hold"),
    ],
    ids=range(15),
)
def test_a_receipt_that_cannot_be_kept_says_why_and_never_a_value(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"the receipt of hold@1") as caught:
        receipt_json(hold_effect, value)
    assert said in str(caught.value)
    assert "4242" not in str(caught.value)


def test_the_receipt_of_an_undo_is_any_model_json_or_nothing() -> None:
    assert receipt_json(undo, None) is None
    assert receipt_json(undo, Hold(hold_id="h", price=Decimal("1.0"))) == {
        "hold_id": "h",
        "until": None,
        "price": "1.0",
        "ratio": None,
    }
    assert receipt_json(undo, {"refund": 1}) == {"refund": 1}
    for value in ("text", [1], {"a": float("nan")}, {"a": Decimal(1)}, Hold(hold_id="\0")):
        with pytest.raises(BadJson, match="the receipt of undo@1"):
            receipt_json(undo, value)


def test_a_receipt_that_its_own_json_cannot_give_back_is_refused_now_and_not_at_the_undo() -> None:
    class Masked(BaseModel):
        card: str = Field(pattern=r"^\d+$")

        @field_serializer("card")
        def mask(self, card: str) -> str:
            return "*" * len(card)

    pay = Effect("pay", lambda call: call.args, args=Masked, receipt=Masked)
    with pytest.raises(BadJson, match="card: String should match pattern"):
        receipt_json(pay, Masked(card="42"))


def test_anything_else_is_taken_as_the_json_it_is() -> None:
    assert any_json("receipt", {"a": [1]}) == {"a": [1]}
    assert any_json("receipt", Hold(hold_id="h"))["hold_id"] == "h"
    for value in (object(), float("nan"), Hold(hold_id="\0")):
        with pytest.raises(BadInput, match="the receipt cannot be stored"):
            any_json("receipt", value)


def test_arguments_that_a_validator_made_inexact_are_refused() -> None:
    class Odd(BaseModel):
        ratio: float = 0.0

        @model_validator(mode="after")
        def spoil(self) -> Odd:
            self.ratio = float("inf")
            return self

    odd = Effect("odd", lambda call: call.args, args=Odd, receipt=Odd)
    one = Step("odd", odd, args=input_of(Odd), compensation=NothingToUndo("a test"))
    with pytest.raises(BadInput, match="step 'odd' cannot be stored"):
        arguments_json(one, arguments(one, {"ratio": 1.0}, {}))


def test_stored_values_that_no_longer_fit_are_bad_input() -> None:
    with pytest.raises(BadInput, match="cannot be read back"):
        read_receipt(hold_effect, {})
    with pytest.raises(BadInput, match="cannot be read back"):
        read_arguments(step, {"count": "many"})


@given(
    st.builds(
        Everything,
        text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        count=st.integers(),
        amount=st.decimals(
            allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30
        ),
        ratio=st.floats(allow_nan=False, allow_infinity=False),
        when=st.datetimes(timezones=st.just(UTC)),
        span=st.timedeltas(min_value=timedelta(days=-1000), max_value=timedelta(days=1000)),
        id=st.uuids(),
    )
)
def test_every_input_comes_back_as_it_was(value: Everything) -> None:
    plain = read_input(saga, value)
    again = strict_loads(json.dumps(plain))
    assert again == plain
    assert arguments(step, again, {}) == value
