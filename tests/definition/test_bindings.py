"""Bindings: what may stand in `bind`, what it becomes, and what is refused at once."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from saga import (
    bind,
)
from saga.definition import arguments, arguments_json, read_arguments
from saga.definition.bindings import bound
from saga.errors import DefinitionError
from tests.definition.parcels import (
    DRAWN,
    INPUT,
    PLACE,
    Colour,
    Line,
    Parcel,
    Place,
    binding,
    made,
    order,
    step,
    untyped_bind,
)


def test_references_are_resolved_from_plain_json() -> None:
    args = made(street=order.place.street, lines=order.lines)
    assert args.order_id == "o1"
    assert args.place == Place(street="Mill Lane", floor=3)
    assert args.street == "Mill Lane"
    assert args.lines == [Line(sku="a", quantity=2)]


def test_the_binding_is_plain_json() -> None:
    fields = binding(
        lines=[bind(Line)(sku=order.id, quantity=2)],
        facts={"order": order.id, "kind": "x"},
        labels=["a", order.id],
        weight=Decimal("2.50"),
    )
    assert fields["order_id"] == {"ref": ["input", "id"]}
    assert fields["weight"] == {"value": "2.50"}
    assert fields["labels"] == {"list": [{"value": "a"}, {"ref": ["input", "id"]}]}
    assert fields["facts"] == {"dict": {"order": {"ref": ["input", "id"]}, "kind": {"value": "x"}}}
    assert fields["lines"] == {
        "list": [
            {
                "model": "Line",
                "fields": {"sku": {"ref": ["input", "id"]}, "quantity": {"value": 2}},
            }
        ]
    }


def test_lists_dicts_and_nested_models_are_put_together() -> None:
    args = made(
        place=bind(Place)(street=order.id),
        lines=[bind(Line)(sku=order.id), Line(sku="b", quantity=9)],
        labels=("a", order.place.street),
        facts={"k": order.id},
    )
    assert args.place == Place(street="o1")
    assert args.lines == [Line(sku="o1"), Line(sku="b", quantity=9)]
    assert args.labels == ["a", "Mill Lane"]
    assert args.facts == {"k": "o1"}


def test_fixed_defaults_are_written_down_and_factories_are_not() -> None:
    """So that what is sent stands in the specification, and a changed default is a change."""
    fields = binding()
    assert fields["weight"] == {"value": "1.0"}
    assert fields["colour"] == {"value": "red"}
    assert fields["note"] == {"value": None}
    assert "number" not in fields


def test_a_default_factory_runs_when_the_arguments_are_made_and_only_then() -> None:
    before = len(DRAWN)
    one = step()
    assert len(DRAWN) == before
    frozen = arguments_json(one, arguments(one, INPUT, {}))
    assert len(DRAWN) == before + 1
    read_arguments(one, frozen)
    assert len(DRAWN) == before + 1
    assert arguments(one, INPUT, {}) != arguments(one, INPUT, {})


def test_a_default_that_pydantic_would_not_take_is_left_to_pydantic() -> None:
    class Odd(BaseModel):
        text: str = None  # type: ignore[assignment]

    bound_model = bound(bind(Odd)(), "step")
    assert bound_model.binding == {"model": bound_model.model.__qualname__, "fields": {}}


@pytest.mark.parametrize(
    ("field", "literal", "plain"),
    [
        ("note", "text", "text"),
        ("note", None, None),
        ("weight", Decimal("0.10"), "0.10"),
        ("colour", Colour.RED, "red"),
        ("speed", "fast", "fast"),
        ("when", datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        ("place", Place(street="x"), {"street": "x", "floor": None}),
        ("labels", [], []),
        ("anything", 10**40, 10**40),
        ("anything", UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_a_literal_is_kept_as_its_exact_json(field: str, literal: Any, plain: Any) -> None:
    assert binding(**{field: literal})[field] == {"value": plain}
    # The model does not know what an Any was: its JSON stays as it is.
    if field != "anything":
        assert getattr(made(**{field: literal}), field) == literal


@pytest.mark.parametrize(
    ("field", "literal"),
    [
        ("note", 7),
        ("weight", 0.1),
        ("weight", "1/10"),
        ("weight", Decimal("NaN")),
        ("speed", "warp"),
        ("colour", "blue"),
        ("place", {"town": "x"}),
        ("labels", "text"),
        ("labels", [1]),
        ("note", "\ud800"),
        ("note", "\0"),
        ("anything", object()),
        ("anything", float("inf")),
        ("anything", order.place.street.__class__),
    ],
)
def test_a_literal_of_another_type_is_refused_at_once(field: str, literal: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        step(**{field: literal})
    assert caught.value.code == "bad-literal"
    assert f"Parcel.{field}" in str(caught.value)


def test_a_literal_that_contains_itself_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(DefinitionError) as caught:
        step(anything=cycle)
    assert caught.value.code == "bad-literal"


def test_a_literal_obeys_the_constraints_of_its_field() -> None:
    with pytest.raises(DefinitionError) as caught:
        bind(Line)(sku="a", quantity=0)
    assert caught.value.code == "bad-literal"


@pytest.mark.parametrize(
    ("field", "reference"),
    [
        ("note", order.total),
        ("weight", order.id),
        ("place", order.lines),
        ("place", order),
        ("lines", order.place),
        ("order_id", order.note),
        ("place", order.second),
        ("street", order.second.street),  # type: ignore[union-attr]
        ("labels", [order.total]),
        ("facts", {"a": order.total}),
        ("labels", order.lines),
        ("place", bind(Line)(sku="a")),
    ],
)
def test_a_reference_of_another_type_is_refused_at_once(field: str, reference: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        step(**{field: reference})
    assert caught.value.code == "types-differ"
    assert f"Parcel.{field}" in str(caught.value)


def test_something_optional_may_stand_where_none_may() -> None:
    fields = {"note": order.second.street}  # type: ignore[union-attr]
    assert made(**fields).note is None
    assert made(INPUT | {"second": PLACE}, **fields).note == "Mill Lane"
    assert made(note=order.note).note is None


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: untyped_bind(Parcel)(order.id), "bad-binding"),
        (lambda: untyped_bind(Parcel)(order_id=order.id), "missing-field"),
        (lambda: untyped_bind(Line)(sku=order.id, quantty=1), "unknown-field"),
        (lambda: step(facts={1: order.id}), "bad-binding"),
        (lambda: untyped_bind(dict)(a=1), "no-model"),
        (lambda: untyped_bind(step)(id=1), "no-model"),
        (lambda: bound("text", "step"), "bad-binding"),
        (lambda: bound(order.id, "step"), "bad-binding"),
        (lambda: bound(Parcel, "step"), "bad-binding"),
    ],
    ids=range(9),
)
def test_what_cannot_be_bound_says_so(make: Any, code: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert caught.value.code == code
    assert caught.value.remedy
