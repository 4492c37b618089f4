"""An each within a saga that is a step of another: its list is found in the parent."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from saga import Call, Effect, NothingToUndo, Saga, Step, SubSaga, bind, input_of, item_of
from saga.errors import DefinitionError
from saga.testing import run
from tests.definition.campaign import Campaign, Letter, People, Person, Sent, campaign, each

READS = NothingToUndo("reads only")


class Year(BaseModel):
    spring: Campaign
    friends: list[Person]


class Note(BaseModel):
    text: str


async def find(call: Call[Campaign]) -> People:
    return People(found=call.args.others)


async def fail(call: Call[Note]) -> Sent:
    raise ValueError(call.args.text)


year = input_of(Year)


def parent(child: Saga[Campaign], args: Any) -> Saga[Year]:
    return Saga("year", year, [SubSaga("spring", child, args=args)])


def over(saga: Saga[Any]) -> list[list[str]]:
    return [row["each"]["over"] for row in saga.spec()["steps"] if "each" in row]


def given() -> Year:
    spring = Campaign(text="hi", people=[Person(id="p")], others=[Person(id="o1"), Person(id="o2")])
    return Year(spring=spring, friends=[Person(id="f1", name="Fay"), Person(id="f2")])


def test_a_list_of_the_input_is_looked_up_in_what_the_parent_passes() -> None:
    child = Saga("child", campaign, [each()])
    whole = parent(child, year.spring)
    bound = parent(child, bind(Campaign)(text="yo", people=year.friends))
    assert over(whole) == [["input", "spring", "people"]]
    assert over(bound) == [["input", "friends"]]
    assert [line.item for line in run(whole, given()).settlement] == ["p"]
    lines = run(bound, given()).settlement
    assert [(line.step, line.item) for line in lines] == [
        ("spring.mail", "f1"),
        ("spring.mail", "f2"),
    ]
    assert lines[0].receipt == {"mail_id": "f1: yo Fay"}


def test_a_list_of_a_receipt_is_that_of_the_step_beside_it() -> None:
    before = Step("find", Effect("people.find", find), args=campaign, compensation=READS)
    one = item_of(before.receipt.found)
    args = bind(Letter)(to=one.name, text=campaign.text)
    mail = each(over=before.receipt.found, key=one.id, args=args)
    saga = parent(Saga("child", campaign, [before, mail]), year.spring)
    assert over(saga) == [["spring.find", "receipt", "found"]]
    items = [line.item for line in run(saga, given()).settlement if line.item]
    assert items == ["o1", "o2"]


def test_two_levels_down_it_is_still_found() -> None:
    class Decade(BaseModel):
        first: Year

    decade = input_of(Decade)
    child = parent(Saga("child", campaign, [each()]), year.spring)
    saga = Saga("decade", decade, [SubSaga("year", child, args=decade.first)])
    assert over(saga) == [["input", "first", "spring", "people"]]
    ended = run(saga, Decade(first=given()))
    assert [(line.step, line.item) for line in ended.settlement] == [("year.spring.mail", "p")]


def test_the_same_child_twice_goes_over_two_lists() -> None:
    child = Saga("child", campaign, [each()])
    spring = SubSaga("spring", child, args=year.spring)
    friends = SubSaga("friends", child, args=bind(Campaign)(text="", people=year.friends))
    saga = Saga("year", year, [spring, friends])
    assert over(saga) == [["input", "spring", "people"], ["input", "friends"]]
    assert over(Saga("child", campaign, child.steps)) == [["input", "people"]]  # not changed
    assert [line.item for line in run(saga, given()).settlement] == ["p", "f1", "f2"]


@pytest.mark.parametrize(
    "args",
    [
        bind(Campaign)(text="", people=[Person(id="a")]),
        bind(Campaign)(text="", people=[]),
        Campaign(text="", people=[Person(id="a")]),
    ],
    ids=["items", "none", "whole"],
)
def test_a_literal_list_is_refused(args: Any) -> None:
    child = Saga("child", campaign, [each()])
    with pytest.raises(DefinitionError) as raised:
        parent(child, args)
    assert raised.value.code == "bad-each"
    assert raised.value.remedy


def test_one_that_the_parent_may_not_have_is_refused() -> None:
    """Within the child the list is always there; what it is given may be missing."""

    class Maybe(BaseModel):
        spring: Campaign | None

    maybe = input_of(Maybe)
    spring: Any = maybe.spring
    child = Saga("child", campaign, [each()])
    with pytest.raises(DefinitionError):
        Saga("s", maybe, [SubSaga("spring", child, args=spring)])


def test_its_items_are_undone_with_the_parent() -> None:
    last = Step(
        "last",
        Effect("note", fail, refused=[ValueError]),
        args=bind(Note)(text="no"),
        compensation=READS,
    )
    child = Saga("child", campaign, [each()])
    friends = bind(Campaign)(text="", people=year.friends)
    saga = Saga("year", year, [SubSaga("spring", child, args=friends), last])
    ended = run(saga, given())
    assert (ended.outcome, ended.cause_step) == ("compensated", "last")
    assert [line.fate for line in ended.settlement] == ["undone", "undone", "never"]
