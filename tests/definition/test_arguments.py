"""Arguments: put together from stored JSON, never sharing anything with it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator

from saga import (
    Compensation,
    Effect,
    NothingToUndo,
    Saga,
    Step,
    bind,
    input_of,
)
from saga.definition import arguments, arguments_json, read_arguments
from saga.definition.bindings import Bound, bound, compile_binding
from saga.errors import BadInput
from tests.definition.parcels import (
    INPUT,
    PLACE,
    Line,
    Order,
    Parcel,
    Place,
    Sent,
    made,
    order,
    send_parcel,
    step,
)


def test_a_field_is_bound_by_its_alias_too_and_stored_by_its_name() -> None:
    """A type checker asks for the alias; the journal keeps to the names of the fields."""

    class Aliased(BaseModel):
        order_id: str = Field(alias="orderId")

    assert bound(bind(Aliased)(orderId=order.id), "s").binding["fields"] == {
        "order_id": {"ref": ["input", "id"]}
    }
    do = Effect(
        "a", lambda call: Sent(tracking="", place=Place(street="")), args=Aliased, receipt=Sent
    )
    one = Step("s", do, args=bind(Aliased)(orderId=order.id), compensation=NothingToUndo("a test"))
    args = arguments(one, INPUT, {})
    assert arguments_json(one, args) == {"order_id": "o1"}
    assert read_arguments(one, {"order_id": "o1"}) == args


def test_an_input_or_a_receipt_is_passed_whole() -> None:
    echo = Effect("echo", lambda call: call.args, args=Sent, receipt=Sent)
    start = input_of(Sent)
    first = Step("first", echo, args=start, compensation=NothingToUndo("a test"))
    second = Step("second", echo, args=first.receipt, compensation=NothingToUndo("a test"))
    Saga("s", start, [first, second])
    sent = {"tracking": "t", "place": PLACE}
    assert first.args.binding == {"ref": ["input"]}
    assert second.args.binding == {"ref": ["first", "receipt"]}
    assert arguments(first, sent, {}) == arguments(second, {}, {"first": sent})


def test_a_literal_model_is_passed_whole() -> None:
    line = Line(sku="a", quantity=2)
    count = Effect("count", lambda call: call.args, args=Line, receipt=Line)
    one = Step("s", count, args=line, compensation=NothingToUndo("a test"))
    assert one.args.binding == {"value": {"sku": "a", "quantity": 2}}
    args = arguments(one, {}, {})
    assert args == line
    assert args is not line


def test_user_code_cannot_change_what_is_stored_through_its_arguments() -> None:
    args = made(anything=order.meta)
    args.anything["deep"][0]["x"] = 2
    assert INPUT["meta"] == {"deep": [{"x": 1}]}
    one = step(anything={"a": [1]})
    arguments(one, INPUT, {}).anything["a"].append(2)  # type: ignore[attr-defined]
    assert arguments(one, INPUT, {}).anything == {"a": [1]}  # type: ignore[attr-defined]


def test_a_validator_that_consumes_its_data_does_not_reach_the_input() -> None:
    class Hungry(Order):
        @field_validator("place", mode="before")
        @classmethod
        def eat(cls, data: Any) -> Any:
            return {"street": data.pop("street")}

    hungry = input_of(Hungry)
    eat = Effect("eat", lambda call: call.args, args=Hungry, receipt=Hungry)
    one = Step("s", eat, args=hungry, compensation=NothingToUndo("a test"))
    before = dict(PLACE)
    arguments(one, INPUT, {})
    assert before == PLACE


def test_arguments_that_do_not_fit_name_the_field_and_no_value() -> None:
    class Strict(BaseModel):
        card: str = Field(max_length=3)

    pay = Effect("pay", lambda call: call.args, args=Strict, receipt=Strict)
    one = Step("pay", pay, args=bind(Strict)(card=order.id), compensation=NothingToUndo("a test"))
    with pytest.raises(BadInput, match="step 'pay' do not fit \\(card: ") as caught:
        arguments(one, INPUT | {"id": "4242 4242"}, {})
    assert "4242" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("stored", [{"place": PLACE}, None, [], "text"], ids=range(4))
def test_stored_json_of_another_shape_is_bad_input(stored: Any) -> None:
    with pytest.raises(BadInput, match="step 'send' cannot be found"):
        made(stored)


def test_a_binding_of_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="no binding has the keys"):
        compile_binding({"code": "1 + 1"})


def test_what_bind_returns_prints_no_values() -> None:
    assert repr(bind(Line)(sku="secret")) == "<bind(Line)(…)>"
    assert isinstance(bind(Line)(sku="secret"), Bound)


def test_a_compensation_is_not_needed_to_bind() -> None:
    assert isinstance(step().compensation, NothingToUndo)
    assert step().undo is None
    drop = Compensation("drop", lambda call: None, args=Parcel, receipt=Sent)
    one = Step(
        "s", send_parcel, args=bind(Parcel)(order_id="a", place=order.place), compensation=drop
    )
    assert one.undo is drop
