"""Alternatives as data: steps that stand where another one stands."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Approval,
    Call,
    Compensation,
    Effect,
    Irreversible,
    NothingToUndo,
    Refused,
    Saga,
    Satisfied,
    Step,
    SubSaga,
    Undo,
    bind,
    input_of,
)
from saga.definition import difference, meaning, warnings
from tests.definition.refusals import code_of


class Parcel(BaseModel):
    id: str


class Label(BaseModel):
    number: str


class Other(BaseModel):
    number: str


class Full(Exception):
    pass


async def ship(call: Call[Parcel]) -> Label:
    return Label(number=call.step)


async def ship_or_not(call: Call[Parcel]) -> Label | Satisfied:
    raise Refused("no")


async def ship_other(call: Call[Parcel]) -> Other:
    return Other(number=call.step)


async def back(call: Undo[Parcel, Label]) -> None:
    pass


async def note(call: Call[Label]) -> Label:
    return call.args


parcel = input_of(Parcel)
undo = Compensation("carrier.back", back)


def step(name: str, effect: Any = None, **given: Any) -> Step[Any, Any]:
    effect = effect or Effect(f"carrier.{name}", ship)
    every: dict[str, Any] = {"args": parcel, "compensation": undo} | given
    return Step(name, effect, **every)


def test_they_are_part_of_the_meaning_and_of_the_drawing() -> None:
    plain = Saga("s", parcel, [step("ship")])
    saga = Saga("s", parcel, [step("ship", instead=[step("post"), step("walk")])])
    assert [row["name"] for row in saga.spec()["steps"][0]["instead"]] == ["post", "walk"]
    assert "instead" not in plain.spec()["steps"][0]
    assert plain.digest() != saga.digest()
    texts = [str(one) for one in difference(plain.spec(), saga.spec())]
    assert texts == ["step 'ship': instead was nothing, is post, walk"]
    assert "else walk: carrier.walk@1" in saga.draw()
    assert meaning(saga.spec())["steps"][0]["instead"][0]["effect"]["name"] == "carrier.post"


def test_a_change_of_one_is_told_under_its_name() -> None:
    old = Saga("s", parcel, [step("ship", instead=[step("post")])])
    effect = Effect("carrier.post", ship, version=2)
    new = Saga("s", parcel, [step("ship", instead=[step("post", effect)])])
    assert [str(one) for one in difference(old.spec(), new.spec())] == [
        "step 'post': effect was carrier.post@1, is carrier.post@2"
    ]


def test_what_follows_refers_to_the_step_that_they_stand_in_for() -> None:
    other = step("post")
    first = step("ship", instead=[other])
    noted = Step("note", Effect("note", note), args=first.receipt, compensation=NothingToUndo("x"))
    assert Saga("s", parcel, [first, noted]).step("note") is noted
    wrong = Step("note", Effect("note", note), args=other.receipt, compensation=NothingToUndo("x"))
    assert code_of(lambda: Saga("s", parcel, [first, wrong])) == "unknown-step"


@pytest.mark.parametrize(
    ("alternative", "code"),
    [
        ("post", "bad-instead"),
        (step("post", after=[step("x")]), "bad-instead"),
        (step("post", optional=True), "bad-instead"),
        (step("post", pivot=True), "bad-instead"),
        (step("post", approval=Approval(by=["ada"], expires=1)), "bad-instead"),
        (step("post", instead=[step("walk")]), "bad-instead"),
        (
            step("post", Effect("p", ship_other), compensation=NothingToUndo("x")),
            "models-differ",
        ),
    ],
    ids=range(7),
)
def test_an_alternative_says_nothing_of_its_place(alternative: Any, code: str) -> None:
    assert code_of(lambda: step("ship", instead=[alternative])) == code


def test_names_labels_and_receipts_are_checked_as_those_of_steps() -> None:
    twice = step("ship", instead=[step("ship", Effect("carrier.two", ship))])
    assert code_of(lambda: Saga("s", parcel, [twice])) == "duplicate-step"
    label = step("ship", instead=[step("post", Effect("carrier.ship", ship, target=["id"]))])
    assert code_of(lambda: Saga("s", parcel, [label])) == "label-twice"
    maybe = step("ship", instead=[step("post", Effect("maybe", ship_or_not))])
    noted = Step("note", Effect("note", note), args=maybe.receipt, compensation=NothingToUndo("x"))
    assert code_of(lambda: Saga("s", parcel, [maybe, noted])) == "may-be-satisfied"


def test_one_that_is_irreversible_makes_its_step_a_pivot() -> None:
    final = Irreversible("it is gone")
    shipped = step("ship", instead=[step("post", compensation=final)])
    assert code_of(lambda: Saga("s", parcel, [shipped, step("after")])) == "past-pivot"
    fixed = step("after", compensation=NothingToUndo("x"))
    assert Saga("s", parcel, [shipped, fixed]).machine_spec.steps[0].instead[0].pivot


def test_a_refusal_behind_a_pivot_needs_an_alternative_that_is_never_refused() -> None:
    pivot = step("pay", pivot=True)
    refusable = Effect("carrier.ship", ship, refused=[Full])
    alone = step("ship", refusable, compensation=NothingToUndo("x"))
    assert code_of(lambda: Saga("s", parcel, [pivot, alone])) == "past-pivot"
    sure = step("post", compensation=NothingToUndo("x"))
    other = step("ship", refusable, compensation=NothingToUndo("x"), instead=[sure])
    assert Saga("s", parcel, [pivot, other]).steps[1] is other


def test_in_a_sub_saga_they_are_steps_of_the_parent() -> None:
    child = Saga("child", parcel, [step("ship", instead=[step("post")])])
    saga = Saga("s", parcel, [SubSaga("sub", child, args=bind(Parcel)(id=parcel.id))])
    row = saga.spec()["steps"][0]
    assert (row["name"], row["instead"][0]["name"]) == ("sub.ship", "sub.post")
    assert row["instead"][0]["args"]["fields"] == {"id": {"ref": ["input", "id"]}}


def test_the_advice_is_given_for_each() -> None:
    saga = Saga("s", parcel, [step("ship", instead=[step("post")])])
    assert {one.step for one in warnings(saga)} == {"ship", "post"}
