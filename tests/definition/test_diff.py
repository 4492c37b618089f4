"""The difference of two definitions, as a person reads it."""

from __future__ import annotations

import pytest

from saga import Absent, Irreversible, NothingToUndo, Provider, Retry, bind
from saga.definition import difference
from tests.definition.order_flow import order_flow
from tests.definition.variants import (
    OTHER,
    SAME,
    DollarArgs,
    IntReceipt,
    Item,
    MoreOrder,
    OptionalArgs,
    OptionalOrder,
    build,
)


def changes(**given: object) -> list[str]:
    return [str(change) for change in difference(build().spec(), build(**given).spec())]  # type: ignore[arg-type]


def test_the_same_definition_has_no_difference() -> None:
    assert difference(order_flow.spec(), order_flow.spec()) == []
    assert changes() == []


@pytest.mark.parametrize("what", OTHER)
def test_whatever_changes_the_digest_is_named_and_needs_a_version(what: str) -> None:
    found = difference(build().spec(), build(**OTHER[what]).spec())
    assert any(change.meaning for change in found)
    back = difference(build(**OTHER[what]).spec(), build().spec())
    assert any(change.meaning for change in back)


@pytest.mark.parametrize(
    "what", [what for what in SAME if what not in {"exceptions", "function", "class names"}]
)
def test_tuning_is_named_and_needs_none(what: str) -> None:
    found = difference(build().spec(), build(**SAME[what]).spec())
    assert found
    assert not any(change.meaning for change in found)


def test_steps() -> None:
    assert changes(names=("one", "two", "three")) == ["step 'three': is new"]
    assert changes(names=("one",)) == ["step 'two': is gone"]
    assert changes(names=("two", "one")) == [
        "step 'two': comes after was one, is nothing",
        "step 'one': comes after was nothing, is two",
        "the order of the steps was one, two, is two, one",
    ]
    assert changes(step={"hold": False}, names=("one", "two")) == [
        "step 'one': hold was true, is false",
        "step 'two': hold was true, is false",
    ]


def one(**given: object) -> list[str]:
    found = difference(build(names=("one",)).spec(), build(names=("one",), **given).spec())  # type: ignore[arg-type]
    return [str(change).removeprefix("step 'one': ") for change in found]


def test_bindings() -> None:
    assert one(binding=lambda o: {"order_id": o.other, "item": o.item}) == [
        "argument order_id was input.id, is input.other"
    ]
    assert one(binding=lambda o: {"order_id": "x", "item": bind(Item)(sku=o.id)}) == [
        "argument item was input.item, is {sku: input.id}",
        'argument order_id was input.id, is "x"',
    ]
    assert one(args=DollarArgs) == ['argument currency was "EUR", is "USD"']


def test_contracts() -> None:
    assert one(effect={"name": "do.it"}) == ["effect was do@1, is do.it@1"]
    assert one(effect={"version": 2}, undo={"version": 3}) == [
        "effect was do@1, is do@2",
        "undo was undo@1, is undo@3",
    ]
    assert one(effect={"target": ["order_id"]}) == ["target was nothing, is order_id"]
    assert one(optional_receipt=True) == ["undo needs_receipt was true, is false"]
    assert one(compensation=NothingToUndo("reads only")) == ["undo was compensation, is nothing"]
    assert one(compensation=Irreversible("sent")) == ["undo was compensation, is irreversible"]


def test_fields() -> None:
    assert "field input.more (str) is new" in changes(order=MoreOrder)
    assert one(receipt=IntReceipt) == ["field receipt.receipt_id was str, is int"]
    assert one(order=OptionalOrder, args=OptionalArgs) == [
        "field input.item.sku was str, is null | str",
        "field args.item.sku was str, is null | str",
    ]


def test_tuning() -> None:
    assert one(
        effect={"timeout": 5, "retry": Retry(attempts=7), "probe": lambda call: Absent()}
    ) == [
        "effect timeout was 30, is 5",
        "effect probe was false, is true",
        "effect retry.attempts was 5, is 7",
    ]
    assert one(undo={"provider": Provider("shop", key_life=60)}) == [
        "undo provider.key_life was null, is 60",
        "undo provider.name was undeclared, is shop",
    ]
    assert one(title="T", deadline=60) == ["title was empty, is T", "deadline was null, is 60"]


def test_bindings_of_every_form() -> None:
    """Stored specifications, so this works when the code of both is gone."""

    def spec(binding: dict[str, object]) -> dict[str, object]:
        found = build(names=("one",)).spec()
        found["steps"][0]["args"] = binding
        return found

    whole = spec({"ref": ["input"]})
    fields = spec(
        {
            "model": "Args",
            "fields": {
                "a": {"list": [{"ref": ["input", "id"]}, {"value": 1}]},
                "b": {"dict": {"x": {"value": None}}},
            },
        }
    )
    fewer = spec({"model": "Args", "fields": {"a": {"value": []}}})
    later = spec({"something": "new"})
    assert list(map(str, difference(whole, fields))) == [
        "step 'one': arguments was input, is {a: [input.id, 1], b: {x: null}}"
    ]
    assert list(map(str, difference(fields, fewer))) == [
        "step 'one': argument a was [input.id, 1], is []",
        "step 'one': argument b is not bound, was {x: null}",
    ]
    assert list(map(str, difference(fewer, fields)))[1] == (
        "step 'one': argument b is bound to {x: null}, was not bound"
    )
    assert list(map(str, difference(whole, later))) == [
        """step 'one': arguments was input, is {"something": "new"}"""
    ]


def test_types_of_every_form() -> None:
    old, new = build(names=("one",)).spec(), build(names=("one",)).spec()
    old["input"] = {"gone": "str", "it": {"list": "str"}}
    for form, text in (
        ({"dict": ["str", "int"]}, "dict[str, int]"),
        ({"literal": ["a", 1]}, '"a" | 1'),
        ({"enum": ["a"]}, '"a"'),
        ({"fields": {"a": "int"}}, "{a: int}"),
        ({"list": {"again": 1}}, "list[…]"),
    ):
        new["input"] = {"it": form}
        assert list(map(str, difference(old, new))) == [
            "field input.gone (str) is gone",
            f"field input.it was list[str], is {text}",
        ]


def test_a_change_that_cannot_be_told_is_still_named() -> None:
    old, new = build(names=("one",)).spec(), build(names=("one",)).spec()
    old["steps"][0]["args"] = {"value": {}}
    new["steps"][0]["args"] = {"model": "Empty", "fields": {}}
    (change,) = difference(old, new)
    assert change.meaning
    assert "no words" in str(change)
