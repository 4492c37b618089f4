"""Inputs: exact, stricter than their model, and no value in any error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import (
    BaseModel,
    field_validator,
)

from saga import Effect, NothingToUndo, Saga, Step, input_of
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
from saga.errors import BadInput
from tests.definition.everything import (
    EXACT,
    SECRET,
    Everything,
    Lax,
    Size,
    effect,
    saga,
    step,
)


def test_the_json_of_an_input_is_exact_and_complete() -> None:
    assert read_input(saga, Everything()) == EXACT


def test_a_model_and_its_own_json_are_the_same_input() -> None:
    plain = read_input(saga, Everything())
    assert read_input(saga, plain) == plain
    assert read_input(saga, json.loads(json.dumps(plain))) == plain
    by_alias = {("theAlias" if name == "alias" else name): v for name, v in plain.items()}
    assert read_input(saga, by_alias) == plain


def test_a_decimal_may_be_a_json_number_if_nothing_of_it_was_lost() -> None:
    assert read_input(saga, strict_loads('{"amount": 49.90, "items": [0.1, 7]}')) == EXACT | {
        "amount": "49.9",
        "items": ["0.1", "7"],
    }
    for text in ('{"amount": 12345678901234567.89}', '{"items": [0.30000000000000004]}'):
        with pytest.raises(BadInput, match="give the decimal as text"):
            read_input(saga, strict_loads(text))


def test_what_is_stored_can_be_read_back_though_the_model_is_strict() -> None:
    """JSON holds a Decimal or a time as text; a strict model refuses that in Python."""
    plain = read_input(saga, Everything())
    args = arguments(step, plain, {})
    assert args == Everything()
    stored = arguments_json(step, args)
    assert stored == plain
    assert read_arguments(step, strict_loads(json.dumps(stored))) == Everything()
    receipt = receipt_json(effect, args)
    assert receipt == plain
    assert read_receipt(effect, plain) == Everything()


def test_a_dict_of_python_values_is_taken_as_its_json() -> None:
    plain = read_input(saga, {"amount": Decimal("7.70"), "id": UUID(int=9), "size": Size.SMALL})
    assert plain == EXACT | {"amount": "7.70", "id": "00000000-0000-0000-0000-000000000009"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"txt": SECRET}, "txt: is no field"),
        ({"lax": {"name": "n", "more": SECRET}}, "lax.more: is no field"),
        (Everything(lax=Lax(more=SECRET)), "lax.more: is no field"),  # type: ignore[call-arg]
        ({"text": 7}, "text: Input should be a valid string"),
        ({"count": "7"}, "count: Input should be a valid integer"),
        ({"count": True}, "count: Input should be a valid integer"),
        ({"amount": SECRET}, "amount: Input should be a valid decimal"),
        ({"amount": "NaN"}, "amount: Input should be a finite number"),
        ({"amount": "1E+1000000"}, "amount: not a finite decimal of a sensible size"),
        ({"items": ["1", "1E-5000"]}, "items[1]: not a finite decimal of a sensible size"),
        ({"point": {"x": "1E+5000"}}, "point.x: not a finite decimal"),
        ({"ratio": float("nan")}, "ratio: not a finite number"),
        ({"lax": {"name": "n", "inner": [float("inf")]}}, "lax.inner[0]: not a finite number"),
        ({"when": "2026-01-02T03:04:05"}, "when: a time without an offset"),
        ({"when": datetime(2026, 1, 2)}, "when: a time without an offset"),  # noqa: DTZ001
        ({"text": "\ud800"}, "text: text with a lone surrogate"),
        ({"text": "a\0b"}, "text: text with U+0000"),
        ({"lax": {"name": "n", "inner": {"\0": 1}}}, "text with U+0000"),
        ({"id": SECRET}, "id: uuid parsing"),
        ({1: 2}, "1"),
        ({"lax": {"name": "n", "inner": object()}}, "no JSON form"),
        ({"lax": {"name": "n", "inner": b"\xff"}}, "no JSON form"),
        ("text", "it is str"),
        (None, "it is NoneType"),
        (Lax(), "it is Lax"),
        (Everything.model_construct(text=SECRET, amount=SECRET), "no JSON form"),
        (Everything.model_construct(text="\ud800"), "lone surrogate"),
        (Everything(amount=Decimal("1E+5000")), "amount: not a finite decimal"),
        (Everything.model_construct(ratio=float("inf")), "ratio: not a finite number"),
        (Everything(when=datetime(2026, 1, 2)), "when: a time without an offset"),  # noqa: DTZ001
        (Everything(lax=Lax(inner=datetime(2026, 1, 2))), "lax.inner: a time without"),  # noqa: DTZ001
        (Everything(lax=Lax(inner={1: 1, "1": 2})), "lax.inner"),
    ],
    ids=range(32),
)
def test_an_input_that_cannot_be_taken_names_the_field_and_never_a_value(
    value: Any, said: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read_input(saga, value)
    assert said in str(caught.value)
    assert "'everything'" in str(caught.value)
    assert "4242" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_what_a_derived_input_has_more_is_refused_and_not_dropped() -> None:
    class More(Everything):
        more: str = SECRET

    class Same(Everything):
        pass

    with pytest.raises(BadInput, match="more: is no field"):
        read_input(saga, More())
    assert read_input(saga, Same()) == EXACT


def test_a_missing_field_is_named() -> None:
    class Two(BaseModel):
        first: str
        second: int

    two = input_of(Two)
    take = Effect("take", lambda call: call.args, args=Two, receipt=Two)
    one = Saga("two", two, [Step("s", take, args=two, compensation=NothingToUndo("a test"))])
    with pytest.raises(BadInput, match="first: is missing; second: is missing") as caught:
        read_input(one, {})
    assert "Give the fields of Two: first, second" in str(caught.value)


def test_many_faults_are_counted_and_not_all_shown() -> None:
    with pytest.raises(BadInput, match="and 4 more"):
        read_input(saga, {f"x{i}": 1 for i in range(9)})


def test_the_text_of_a_validator_may_hold_the_value_and_is_not_repeated() -> None:
    class Card(BaseModel):
        number: str

        @field_validator("number")
        @classmethod
        def known(cls, number: str) -> str:
            raise ValueError(f"{number} is stolen")

    card = input_of(Card)
    take = Effect("take", lambda call: call.args, args=Card, receipt=Card)
    one = Saga("card", card, [Step("s", take, args=card, compensation=NothingToUndo("a test"))])
    with pytest.raises(BadInput, match="number: value error") as caught:
        read_input(one, {"number": SECRET})
    assert "4242" not in str(caught.value)


def test_a_key_of_a_mapping_is_shown_only_in_short_and_escaped() -> None:
    class Box(BaseModel):
        inner: dict[str, int]

    box = input_of(Box)
    take = Effect("take", lambda call: call.args, args=Box, receipt=Box)
    one = Saga("box", box, [Step("s", take, args=box, compensation=NothingToUndo("a test"))])
    with pytest.raises(BadInput) as caught:
        read_input(one, {"inner": {"\x1b[31m" + "k" * 500: "x"}})
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_cycle_and_a_deep_nest_are_refused_and_do_not_crash() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    for inner in (cycle, deep):
        with pytest.raises(BadInput):
            read_input(saga, {"lax": {"name": "n", "inner": inner}})
        with pytest.raises(BadInput):
            read_input(saga, Everything(lax=Lax(inner=inner)))
        with pytest.raises(BadJson):
            receipt_json(effect, Everything(lax=Lax(inner=inner)))


def test_a_mapping_of_any_kind_is_an_input() -> None:
    class Mine(Mapping[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return {"text": "mine"}[name]

        def __iter__(self) -> Any:
            return iter(["text"])

        def __len__(self) -> int:
            return 1

    assert read_input(saga, Mine())["text"] == "mine"
