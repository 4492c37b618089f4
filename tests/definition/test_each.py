"""An each as data: what it goes over, what names an item, and what is refused at construction."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Each,
    Effect,
    Irreversible,
    Saga,
    Step,
    bind,
    input_of,
    item_of,
)
from saga.definition import difference
from saga.errors import DefinitionError
from tests.definition.campaign import (
    READS,
    Letter,
    Person,
    campaign,
    each,
    found,
    note,
    over_receipt,
    person,
    send,
    send_mail,
)
from tests.definition.refusals import code_of


class NoSuchAddress(Exception):
    pass


def row(**given: Any) -> Any:
    return Saga("s", campaign, [each(**given)]).spec()["steps"][0]


def test_it_says_what_it_goes_over_and_how() -> None:
    assert row()["each"] == {
        "over": ["input", "people"],
        "key": ["id"],
        "on_unknown": "hold_all",
        "parallel": 10,
        "batch": None,
    }
    assert row()["args"]["fields"] == {
        "to": {"ref": ["item", "name"]},
        "text": {"ref": ["input", "text"]},
    }
    given = row(key=None, parallel=3, batch=100, on_unknown="hold_target")["each"]
    assert (given["key"], given["parallel"], given["batch"]) == (None, 3, 100)
    assert given["on_unknown"] == "hold_target"
    assert row(key=person.owner.id)["each"]["key"] == ["owner", "id"]  # type: ignore[union-attr]


def test_an_item_may_be_a_text_or_be_passed_whole() -> None:
    name = item_of(campaign.names)
    scalar = each(over=campaign.names, key=name, args=bind(Letter)(to=name, text="x"))
    step = Saga("s", campaign, [scalar]).spec()["steps"][0]
    assert (step["each"]["key"], step["args"]["fields"]["to"]) == ([], {"ref": ["item"]})
    whole = each(effect=Effect("note", note), args=person, compensation=READS)
    assert Saga("s", campaign, [whole]).spec()["steps"][0]["args"] == {"ref": ["item"]}


@pytest.mark.parametrize(
    "given",
    [
        {"over": campaign.text},
        {"over": campaign.maybe},
        {"over": campaign},
        {"over": ["a", "b"]},
        {"over": None},
        {"key": item_of(campaign.others).id},
        {"key": campaign.text},
        {"key": "id"},
        {"key": campaign.people},
        {"parallel": 0},
        {"parallel": -1},
        {"parallel": 1001},
        {"parallel": True},
        {"parallel": 2.0},
        {"parallel": None},
        {"batch": 0},
        {"batch": "10"},
        {"on_unknown": "hold"},
        {"on_unknown": None},
        {"on_unknown": "hold_target", "effect": Effect("mail.plain", send)},
    ],
    ids=range(20),
)
def test_what_no_list_can_be_gone_over_with_is_refused(given: dict[str, Any]) -> None:
    assert code_of(lambda: each(**given)) == "bad-each"


def test_the_limits_themselves_are_taken() -> None:
    assert row(parallel=1000, batch=1)["each"]["parallel"] == 1000
    assert row(parallel=1, batch=100_000)["each"]["batch"] == 100_000
    for hold in ("hold_all", "hold_target", "hold_item"):
        assert row(on_unknown=hold)["each"]["on_unknown"] == hold


def test_it_says_how_an_item_is_taken_back_and_has_no_receipt_as_a_whole() -> None:
    with pytest.raises(DefinitionError) as raised:
        Each("mail", send_mail, over=campaign.people, args=person)  # type: ignore[call-arg, misc]
    assert raised.value.code == "no-compensation"
    assert code_of(lambda: each().receipt) == "no-receipt"
    assert code_of(lambda: each("item")) == "bad-name"


def test_an_item_is_known_only_to_the_each_that_goes_over_its_list() -> None:
    stranger = item_of(campaign.others)
    other = bind(Letter)(to=stranger.name, text="x")
    plain = Step("plain", send_mail, args=other, compensation=READS)
    nested = item_of(person.tags)
    bad: list[Step[Any, Any]] = [
        each(args=other),
        plain,
        each(over=person.tags, key=nested, args=bind(Letter)(to=nested, text="x")),
    ]
    for step in bad:
        assert code_of(partial(Saga, "s", campaign, [each("e"), step])) == "other-item"
    assert code_of(lambda: stranger.nothing) == "unknown-field"  # type: ignore[attr-defined]


def test_its_list_may_come_from_a_step_that_has_surely_run() -> None:
    before = found()
    assert Saga("s", campaign, [before, over_receipt(before)]).spec()["steps"][1]["each"][
        "over"
    ] == ["find", "receipt", "found"]
    optional = found(optional=True)
    beside = found()
    for code, steps in {
        "may-be-skipped": [optional, over_receipt(optional)],
        "not-before": [beside, over_receipt(beside, after=[])],
        "unknown-step": [over_receipt(found())],
    }.items():
        assert code_of(partial(Saga, "s", campaign, steps)) == code


def test_its_list_is_of_the_input_that_the_saga_was_given() -> None:
    class Other(BaseModel):
        text: str
        people: list[Person]

    other = input_of(Other)
    one = item_of(other.people)
    args = bind(Letter)(to=one.name, text="x")  # nothing but the list is of the other input
    step = each(over=other.people, key=None, args=args)
    assert code_of(lambda: Saga("s", campaign, [step])) == "other-input"


def test_it_is_a_pivot_like_any_other_step_and_from_its_first_item_on() -> None:
    mail = Irreversible("mail cannot be unsent")
    refusing = Effect("mail.send", send, refused=[NoSuchAddress])
    sure = each(effect=refusing, compensation=mail)
    assert code_of(lambda: Saga("s", campaign, [sure])) == "past-pivot"
    Saga("s", campaign, [each(effect=refusing, compensation=mail, optional=True)])
    Saga("s", campaign, [each(effect=refusing, pivot=True)])
    assert code_of(lambda: Saga("s", campaign, [each(compensation=mail), each("b")])) == (
        "past-pivot"
    )
    assert code_of(lambda: Saga("s", campaign, [each(pivot=True), each("b")])) == "past-pivot"


def test_over_key_and_on_unknown_are_meaning() -> None:
    stranger = item_of(campaign.others)
    args = bind(Letter)(to=stranger.name, text=campaign.text)
    different: list[dict[str, Any]] = [
        {},
        {"key": None},
        {"key": person.name},
        {"on_unknown": "hold_item"},
        {"on_unknown": "hold_target"},
        {"over": campaign.others, "key": stranger.id, "args": args},
        {"optional": True},
        {"pivot": True},
    ]
    digests = {Saga("s", campaign, [each(**given)]).digest() for given in different}
    assert len(digests) == len(different)
    plain = Step(
        "mail", send_mail, args=bind(Letter)(to="a", text=campaign.text), compensation=READS
    )
    assert Saga("s", campaign, [plain]).digest() not in digests


def test_how_many_at_once_is_tuning() -> None:
    usual = Saga("s", campaign, [each()])
    changed: list[dict[str, Any]] = [{"parallel": 1}, {"batch": 5}, {"title": "write to all"}]
    for tuning in changed:
        tuned = Saga("s", campaign, [each(**tuning)])
        assert tuned.digest() == usual.digest()
        assert tuned.spec() != usual.spec()


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, bool]]:
    one, other = (Saga("s", campaign, [each(**given)]).spec() for given in (old, new))
    return [(str(change), change.meaning) for change in difference(one, other)]


def test_a_difference_is_told_and_says_whether_it_needs_a_version() -> None:
    assert changes({}, {"parallel": 3, "batch": 9}) == [
        ("step 'mail': parallel was 10, is 3", False),
        ("step 'mail': batch was null, is 9", False),
    ]
    assert changes({}, {"key": None, "on_unknown": "hold_item"}) == [
        ("step 'mail': key was id, is null", True),
        ("step 'mail': on_unknown was hold_all, is hold_item", True),
    ]
    plain = Step(
        "mail", send_mail, args=bind(Letter)(to="a", text=campaign.text), compensation=READS
    )
    one = Saga("s", campaign, [each(compensation=READS)]).spec()
    other = Saga("s", campaign, [plain]).spec()
    for old, new in ((one, other), (other, one)):
        told = {str(change).split(":")[1].split()[0] for change in difference(old, new)}
        assert {"over", "key", "on_unknown", "parallel"} <= told


def test_it_is_drawn_with_the_name_of_its_list() -> None:
    text = Saga("s", campaign, [each(optional=True)]).draw()
    assert '"mail<br/>mail.send@1<br/>each of input.people<br/>optional"' in text
