"""`saga.testing.run`: what a user's unit test of two lines can rely on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from saga import (
    Approval,
    BadInput,
    Call,
    Compensation,
    Effect,
    NotSent,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.clock import Clock
from saga.testing import run
from tests.testing.trips import Booking, Trip

calls: list[str] = []


async def book(call: Call[Trip]) -> Booking:
    calls.append(call.step)
    return Booking(id=f"{call.step}-{call.args.city}")


def drop(call: Undo[Trip, Booking]) -> None:
    calls.append(f"drop {call.step}")


trip = input_of(Trip)
patient = Retry(attempts=5, first=timedelta(hours=1), longest=timedelta(days=1))
hotel = Step(
    "hotel", Effect("hotel.book", book), args=trip, compensation=Compensation("hotel.drop", drop)
)
flight = Step(
    "flight",
    Effect("flight.book", book, retry=patient),
    args=trip,
    compensation=Compensation("flight.drop", drop),
)
trips = Saga("trip", trip, [hotel, flight], deadline=timedelta(days=30))


@pytest.fixture(autouse=True)
def _nothing_called() -> None:
    calls.clear()


def test_effects_without_an_answer_run_for_real() -> None:
    ended = run(trips, Trip(city="Rome"))
    assert ended.outcome == "completed"
    assert [step.receipt for step in ended.steps] == [{"id": "hotel-Rome"}, {"id": "flight-Rome"}]
    assert calls == ["hotel", "flight"]


def test_a_refusal_is_undone() -> None:
    ended = run(trips, {"city": "Rome"}, answers={"flight": Refused("full")})
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "refused", "flight")
    assert calls == ["hotel", "drop hotel"]


def test_a_list_answers_one_attempt_after_the_other_and_waits_cost_no_time() -> None:
    began = Clock().monotonic()
    answers = [NotSent("busy"), NotSent("busy"), {"id": "f-3"}]
    ended = run(trips, Trip(city="Rome"), answers={"flight": answers})
    assert ended.outcome == "completed"
    assert (ended.steps[1].attempts, ended.steps[1].receipt) == (3, {"id": "f-3"})
    waited = ended.ended_at - ended.started_at if ended.ended_at else timedelta()
    assert waited >= timedelta(hours=3)
    assert Clock().monotonic() - began < 30


def test_what_nobody_can_settle_comes_back_with_its_case() -> None:
    waiting = run(trips, Trip(city="Rome"), answers={"flight": NameError("flihgt")})
    assert waiting.phase == "running"
    assert waiting.cases == ("test/1",)
    assert waiting.steps[1].state == "unknown"


def test_an_undo_can_be_scripted_and_a_function_is_given_the_call() -> None:
    keys: list[str] = []

    def refused(call: Call[Trip]) -> Booking:
        keys.append(call.key)
        raise Refused("full")

    answers = {"flight": refused, "hotel/undo": Refused("no refund")}
    waiting = run(trips, Trip(city="Rome"), answers=answers)
    assert waiting.phase == "compensating"
    undo = waiting.steps[0].undo
    assert undo is not None
    assert undo.state == "refused"
    assert len(keys) == 1


def test_an_answer_for_no_step_is_a_mistake() -> None:
    with pytest.raises(BadInput, match="fligth"):
        run(trips, Trip(city="Rome"), answers={"fligth": Refused("full")})


def test_people_agree_as_soon_as_they_are_asked() -> None:
    """Two of them where two are needed; one is not enough."""
    asked = Step(
        "hotel",
        Effect("hotel.book", book),
        args=trip,
        compensation=Compensation("hotel.drop", drop),
        approval=Approval(by=["ada", "bob"], people=2, expires=timedelta(hours=1)),
    )
    careful = Saga("careful", trip, [asked, flight])
    both = run(careful, Trip(city="Rome"), approved={"hotel": ["ada", "bob"]})
    assert (both.outcome, calls) == ("completed", ["hotel", "flight"])
    alone = run(careful, Trip(city="Rome"), approved={"hotel": ["ada"]})
    assert (alone.outcome, alone.cause) == ("compensated", "deadline")
    assert calls == ["hotel", "flight"]
