"""Waits as data: what they wait for, and that none lasts for ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from saga import Saga, Wait, input_of
from saga.errors import DefinitionError


class Order(BaseModel):
    ship_at: datetime


class Payment(BaseModel):
    amount: str


order = input_of(Order)


def row(wait: Wait[Any]) -> Any:
    return Saga("s", order, [wait], deadline=timedelta(days=1)).spec()["steps"][0]["wait"]


def test_a_wait_says_what_it_waits_for() -> None:
    nothing: dict[str, Any] = {
        "time": None,
        "until": None,
        "signal": None,
        "needs": [],
        "limit": None,
    }
    assert row(Wait("nap", time=timedelta(minutes=1))) == {**nothing, "time": 60}
    assert row(Wait("at", until=order.ship_at)) == {**nothing, "until": ["input", "ship_at"]}
    signal = {"signal": {"amount": "str"}, "needs": ["amount"], "limit": 5}
    assert row(Wait("paid", signal=Payment, limit=5)) == {**nothing, **signal}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"time": 1, "signal": Payment},
        {"time": 1, "limit": 5},
        {"until": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
    ids=range(4),
)
def test_one_thing_and_only_one(given: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as raised:
        Wait("w", **given)
    assert raised.value.code == "bad-wait"
    assert raised.value.remedy


def test_nothing_waits_for_ever() -> None:
    endless: Wait[Payment] = Wait("paid", signal=Payment)
    with pytest.raises(DefinitionError) as raised:
        Saga("s", order, [endless])
    assert raised.value.code == "endless-wait"
    Saga("s", order, [endless], deadline=timedelta(days=1))
    Saga("s", order, [Wait("paid", signal=Payment, limit=5)])


def test_what_it_waits_for_is_meaning_and_its_digest_says_so() -> None:
    digests = {
        Saga("s", order, [wait]).digest()
        for wait in (Wait("w", time=1), Wait("w", time=2), Wait("w", until=order.ship_at))
    }
    assert len(digests) == 3


def test_until_is_a_moment_of_the_input_or_a_receipt() -> None:
    class Odd(BaseModel):
        when: str

    with pytest.raises(DefinitionError):
        Wait("w", until=input_of(Odd).when)  # type: ignore[call-overload]
