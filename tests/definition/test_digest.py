"""The digest: changed by a change of meaning, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Call,
    Effect,
    Irreversible,
    NothingToUndo,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
)
from tests.definition.variants import (
    OTHER,
    SAME,
    Args,
    Receipt,
    build,
)


@pytest.mark.parametrize("what", SAME)
def test_tuning_titles_and_class_names_do_not_change_the_digest(what: str) -> None:
    changed = build(**SAME[what])
    assert changed.digest() == build().digest()


def test_every_change_of_meaning_changes_the_digest_and_each_to_another() -> None:
    digests = {what: build(**given).digest() for what, given in OTHER.items()}
    digests["unchanged"] = build().digest()
    seen: dict[str, str] = {}
    for what, one in digests.items():
        assert one not in seen, f"{what} is digested like {seen[one]}"
        seen[one] = what


def test_a_change_of_reason_or_kind_without_undo_is_one_of_kind_only() -> None:
    one = build(compensation=NothingToUndo("reads only"))
    assert one.digest() == build(compensation=NothingToUndo("only reads")).digest()
    last = build(compensation=Irreversible("sent"), names=("one",))
    assert last.digest() == build(compensation=Irreversible("mailed"), names=("one",)).digest()


def test_a_literal_that_looks_like_a_binding_is_digested_as_it_is() -> None:
    class Box(BaseModel):
        it: Any

    def digest_of(value: Any) -> str:
        effect = Effect("e", lambda call: call.args, args=Box, receipt=Box)
        one = Step("s", effect, args=bind(Box)(it=value), compensation=NothingToUndo("a test"))
        return Saga("s", input_of(Box), [one]).digest()

    assert digest_of({"model": "A", "fields": {}}) != digest_of({"model": "B", "fields": {}})
    assert digest_of({"ref": ["input"]}) != digest_of(input_of(Box))


def test_lists_and_dicts_of_references_are_digested_by_what_they_hold() -> None:
    class Bag(BaseModel):
        items: list[Any]
        named: dict[str, Any]

    class Given(BaseModel):
        a: str
        b: str

    given = input_of(Given)

    def digest_of(items: list[Any], named: dict[str, Any]) -> str:
        effect = Effect("e", lambda call: call.args, args=Bag, receipt=Bag)
        binding = bind(Bag)(items=items, named=named)
        one = Step("s", effect, args=binding, compensation=NothingToUndo("a test"))
        return Saga("s", given, [one]).digest()

    digests = [
        digest_of([given.a], {"x": given.b}),
        digest_of([given.b], {"x": given.b}),
        digest_of([given.a], {"x": given.a}),
        digest_of([given.a, "b"], {"x": given.b}),
        digest_of([given.a], {"y": given.b}),
        digest_of([given.a], {}),
    ]
    assert len(set(digests)) == len(digests)


def test_the_machine_form_takes_over_new_tuning() -> None:
    spec = build(effect={"timeout": 5}).machine_spec
    assert replace(spec.steps[0].effect, timeout=30) == build().machine_spec.steps[0].effect


async def declared(call: Call[Args]) -> Receipt:
    raise NotImplementedError


async def taken_back(call: Undo[Args, Receipt]) -> None:
    raise NotImplementedError


def test_models_by_annotation_and_by_hand_are_the_same_saga() -> None:
    assert (
        build(
            effect={"do": declared, "args": None, "receipt": None},
            undo={"do": taken_back, "args": None, "receipt": None},
        ).spec()
        == build().spec()
    )
