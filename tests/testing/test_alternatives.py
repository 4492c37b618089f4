"""A step that fails for good is done in another way, if it names one."""

from __future__ import annotations

from saga import (
    Call,
    Effect,
    NothingToUndo,
    NotSent,
    Refused,
    Saga,
    Step,
    Unknown,
    bind,
)
from saga.testing import run
from tests.testing.bookings import book, calls, step, trip
from tests.testing.trips import Booking


async def tell(call: Call[Booking]) -> Booking:
    calls.append(f"tell {call.args.id}")
    return call.args


train = step("train", instead=[step("bus"), step("bike")])
told = Step(
    "tell",
    Effect("tell", tell),
    args=bind(Booking)(id=train.receipt.id),
    compensation=NothingToUndo("told is told"),
)
saga = Saga("trip", trip, [train, told])


def setup_function() -> None:
    calls.clear()


def test_a_refusal_goes_to_the_next_one_whose_receipt_counts() -> None:
    ended = run(saga, {"city": "Rome"}, answers={"train": Refused("full")})
    assert ended.outcome == "completed"
    assert calls == ["bus", "tell bus"]
    first = ended.steps[0]
    assert (first.name, first.instead, first.state, first.receipt) == (
        "train",
        "bus",
        "landed",
        {"id": "bus"},
    )
    assert [(one.step, one.state) for one in ended.failures] == [("train", "refused")]
    lines = [(line.step, line.fate) for line in ended.settlement]
    assert lines == [("train", "never"), ("bus", "landed"), ("tell", "landed")]


def test_used_up_attempts_do_too_and_after_the_last_one_the_run_is_undone() -> None:
    answers = {"train": Refused("full"), "bus": NotSent("down"), "bike": Refused("flat")}
    ended = run(saga, {"city": "Rome"}, answers=answers)
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "refused", "bike")
    assert [one.step for one in ended.failures] == ["bike", "train", "bus"]
    assert calls == []


def test_the_one_that_landed_is_undone_by_its_own_compensation() -> None:
    ended = run(saga, {"city": "Rome"}, answers={"train": Refused("full"), "tell": Refused("no")})
    assert ended.outcome == "compensated"
    assert calls == ["bus", "drop bus"]


def test_an_unknown_one_is_settled_before_another_is_tried() -> None:
    """It may have happened: it is sent again under its key, and no alternative is."""
    ended = run(saga, {"city": "Rome"}, answers={"train": [Unknown("?"), {"id": "t"}]})
    assert (ended.outcome, ended.steps[0].instead) == ("completed", None)
    assert calls == ["tell t"]


def test_behind_a_pivot_it_is_tried_before_a_person_is_asked() -> None:
    paid = step("pay", pivot=True)
    final = Step(
        "ship",
        Effect("ship", book),
        args=trip,
        compensation=NothingToUndo("x"),
        instead=[
            Step("post", Effect("post", book), args=trip, compensation=NothingToUndo("x")),
        ],
    )
    pivoted = Saga("trip", trip, [paid, final])
    ended = run(pivoted, {"city": "Rome"}, answers={"ship": Refused("closed")})
    assert (ended.outcome, ended.steps[1].instead) == ("completed", "post")
    both = {"ship": Refused("closed"), "post": Refused("closed")}
    stuck = run(pivoted, {"city": "Rome"}, answers=both)
    assert (stuck.phase, len(stuck.cases)) == ("running", 1)
