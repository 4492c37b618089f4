"""Approvals as data: nothing is left out that would count as approved."""

from __future__ import annotations

from typing import Any

import pytest

from saga import Approval, Saga
from saga.errors import DefinitionError
from tests.definition.trips import code_of, step, trip


@pytest.mark.parametrize(
    "given",
    [
        {"by": []},
        {"by": ""},
        {"by": ["ada", " "]},
        {"by": "ada", "people": 0},
        {"by": "ada", "people": True},
        {"by": ["ada"], "people": 2},
    ],
    ids=range(6),
)
def test_it_says_who_and_how_many(given: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as raised:
        Approval(expires=60, **given)
    assert raised.value.code == "bad-approval"


def test_it_expires() -> None:
    assert code_of(lambda: Approval(by="ada", expires=0)) == "bad-duration"


def test_it_is_part_of_the_meaning() -> None:
    first = step("first")
    approval = Approval(by="ada", expires=60, observed=first)
    plain, asks = step("second"), step("second", approval=approval)
    flow = Saga("s", trip, [first, asks])
    assert flow.spec()["steps"][1]["approval"] == {
        "by": ["ada"],
        "people": 1,
        "expires": 60,
        "observed": "first",
        "scope": "hotel.book@1",
        "policy": "1",
    }
    assert flow.digest() != Saga("s", trip, [first, plain]).digest()


def test_what_it_rests_on_has_been_read_by_then() -> None:
    later = step("later")
    early = step("early", approval=Approval(by="ada", expires=60, observed=later))
    assert code_of(lambda: Saga("s", trip, [early, later])) == "bad-approval"
    assert code_of(lambda: step("x", approval="ada")) == "bad-approval"
