"""Calls and answers: what a function of an effect is given, and what it may say."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from saga import Absent, Call, CannotSay, InProgress, NotSent, Refused, Undo, Unknown
from saga.errors import DefinitionError


class Args(BaseModel):
    card: str


class Base:
    pass


class Derived(Base):
    pass


def call(*resources: object) -> Call[Args]:
    return Call(
        args=Args(card="4242"),
        key="k",
        digest="sha256:0",
        run_id="r",
        step="pay",
        attempt=1,
        deadline=datetime(2026, 1, 1, tzinfo=UTC),
        resources=resources,
    )


def undo() -> Undo[Args, Args | None]:
    return Undo(
        args=Args(card="4242"),
        key="k/undo@1",
        digest="sha256:0",
        run_id="r",
        step="pay",
        attempt=1,
        deadline=datetime(2026, 1, 1, tzinfo=UTC),
        receipt=Args(card="5555"),
        of_key="k",
    )


def test_a_resource_is_found_by_its_type() -> None:
    client = Base()
    assert call("text", client).resource(Base) is client


def test_the_exact_type_wins_over_a_subclass() -> None:
    base, derived = Base(), Derived()
    assert call(derived, base).resource(Base) is base
    assert call(derived).resource(Base) is derived


def test_a_missing_resource_names_what_there_is() -> None:
    with pytest.raises(DefinitionError) as caught:
        call("text", 1).resource(Base)
    assert caught.value.code == "no-resource"
    assert "needs a Base, the lifespan yielded str, int" in str(caught.value)
    with pytest.raises(DefinitionError, match="yielded nothing"):
        call().resource(Base)


def test_two_of_one_type_are_refused_so_that_no_call_goes_to_the_wrong_one() -> None:
    with pytest.raises(DefinitionError) as caught:
        call(Base(), Base()).resource(Base)
    assert caught.value.code == "ambiguous-resource"


def test_a_call_prints_no_arguments_receipt_or_resources() -> None:
    for one in (call("secret"), undo()):
        assert not {"4242", "5555", "secret"} & set(repr(one).replace("'", " ").split())
        assert "4242" not in f"{one}"
        assert "5555" not in f"{one}"


def test_a_call_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        call().attempt = 2  # type: ignore[misc]


def test_an_undo_knows_what_it_reverses() -> None:
    one = undo()
    assert (one.key, one.of_key) == ("k/undo@1", "k")
    assert one.receipt is not None
    assert one.receipt.card == "5555"


@pytest.mark.parametrize("kind", [Refused, NotSent, Unknown])
def test_an_answer_can_be_raised_with_and_without_a_reason(kind: Any) -> None:
    assert kind().reason == ""
    assert str(kind("no rooms")) == "no rooms"


@pytest.mark.parametrize("after", [None, 3, timedelta(seconds=3), datetime(2026, 1, 1, tzinfo=UTC)])
def test_not_sent_keeps_the_earliest_next_moment(after: Any) -> None:
    assert NotSent("busy", retry_after=after).retry_after == after


def test_the_answers_of_a_probe_are_values() -> None:
    answers: set[object] = {Absent(), InProgress(), CannotSay("down"), Absent()}
    assert len(answers) == 3
    assert CannotSay("down") == CannotSay("down")
    assert CannotSay().reason == ""
