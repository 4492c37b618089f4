"""What users can rely on when they explore a saga of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from inspect import isawaitable

import pytest

from saga import (
    IDEMPOTENT,
    BadInput,
    Call,
    Compensation,
    Effect,
    Provider,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.testing import Fate, World, explore
from tests.testing.trips import ROME, Booking, Trip, book, drop, trips


def test_one_crash_is_explored_in_a_moment_and_the_report_counts_it() -> None:
    world = World()
    report = explore(trips(world), ROME, crashes=1)
    assert report.ok, str(report)
    assert report.runs > 80
    assert report.states > 20
    assert not report.complete
    assert set(report.ends) <= {"completed", "compensated"}  # the latter after a long outage
    first = str(report).splitlines()[0]
    assert f"{report.runs} runs" in first
    assert f"{report.points} points" in first
    assert world.ledger == []


def test_the_fix_point_is_reached_where_nothing_is_declared() -> None:
    world = World()
    saga = trips(world, provider=Provider("shop"), probe=False, names=["hotel"])
    report = explore(saga, ROME)
    assert report.ok, str(report)
    assert report.complete
    assert set(report.ends) == {"completed", "running, with an open case"}


def test_the_same_exploration_counts_the_same() -> None:
    counts = [explore(trips(World()), ROME, runs=60).counts() for _ in range(2)]
    assert counts[0] == counts[1]


def test_each_input_is_explored_by_itself() -> None:
    world = World()
    one = explore(trips(world), ROME, crashes=0)
    two = explore(trips(world), [ROME, {"city": "Oslo"}], crashes=0)
    assert two.runs == 2 * one.runs


def test_a_promise_that_the_provider_does_not_keep_is_found() -> None:
    report = explore(trips(World(), probe=False, keys=False), ROME, crashes=1)
    assert 2 in report.laws
    assert report.found[0].trace


def test_the_way_to_a_violation_is_told_step_by_step() -> None:
    report = explore(trips(World(), probe=False, keys=False), ROME, crashes=1, enough=1)
    (found,) = report.found
    assert found.violation is not None
    assert str(found.violation) in str(report)
    assert f"1. {found.trace[0]}" in str(found)


def test_somebody_may_cancel_and_a_person_may_decide() -> None:
    world = World()
    world.meets("flight.book", then=Fate.REFUSE)
    world.meets("hotel.drop", then=Fate.REFUSE)
    report = explore(trips(world), ROME, crashes=0, cancel=True, person=True)
    assert report.ok, str(report)
    assert {"compensated", "settled"} <= set(report.ends)


def test_another_may_take_over_while_one_sleeps() -> None:
    report = explore(trips(World(), names=["hotel"]), ROME, runs=60, rival=True)
    assert report.ok, str(report)
    assert any("another" in fault for fault in report.faults)


def test_effects_of_ones_own_are_called_for_real_and_what_they_keep_is_put_back() -> None:
    booked: list[str] = []

    async def once(call: Call[Trip]) -> Booking:
        if call.key not in booked:
            booked.append(call.key)
        return Booking(id=call.key)

    async def release(call: Undo[Trip, Booking]) -> None:
        booked.remove(call.of_key)

    trip = input_of(Trip)
    effect = Effect("hotel.book", once, provider=IDEMPOTENT, retry=Retry(attempts=2))
    hotel = Step("hotel", effect, args=trip, compensation=Compensation("hotel.drop", release))
    report = explore(Saga("stay", trip, [hotel]), ROME, crashes=1, own=[booked])
    assert report.ok, str(report)
    assert report.calls > 10


def test_a_lifespan_opens_what_effects_need() -> None:
    class Desk:
        guests = 0

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Sequence[object]]:
        yield [Desk()]

    async def check_in(call: Call[Trip]) -> Booking:
        call.resource(Desk).guests += 1
        return Booking(id="1")

    trip = input_of(Trip)
    effect = Effect("hotel.book", check_in, provider=IDEMPOTENT)
    hotel = Step("hotel", effect, args=trip, compensation=Compensation("hotel.drop", drop))
    report = explore(Saga("stay", trip, [hotel]), ROME, runs=20, lifespan=lifespan)
    assert report.ok, str(report)


def test_a_call_that_does_not_come_the_one_way_is_found() -> None:
    world = World()
    hotel = world.effect("hotel.book", book, provider=Provider("shop"))

    async def behind_its_back(call: Call[Trip]) -> Booking:
        other = Call(**{**vars(call), "key": f"{call.key}/again"})
        booking = hotel.do(other)
        assert isawaitable(booking)
        return Booking.model_validate(await booking)

    trip = input_of(Trip)
    straight = Step("hotel", hotel, args=trip, compensation=world.compensation("hotel.drop", drop))
    crooked = Step(
        "flight",
        Effect("flight.book", behind_its_back),
        args=trip,
        compensation=Compensation("flight.drop", drop),
    )
    report = explore(Saga("stay", trip, [straight, crooked]), ROME, crashes=0)
    assert 1 in report.laws
    assert "the one way" in str(report)


def test_effects_of_two_worlds_are_refused() -> None:
    trip = input_of(Trip)
    steps = [
        Step(
            name,
            world.effect(f"{name}.book", book),
            args=trip,
            compensation=world.compensation(f"{name}.drop", drop),
        )
        for name, world in (("hotel", World()), ("flight", World()))
    ]
    with pytest.raises(BadInput, match="2 worlds"):
        explore(Saga("stay", trip, steps), ROME)


def test_a_refusal_from_the_maker_of_the_receipt_counts() -> None:
    world = World()

    async def full(call: Call[Trip]) -> Booking:
        raise Refused("full")

    trip = input_of(Trip)
    hotel = Step(
        "hotel",
        world.effect("hotel.book", full, provider=Provider("shop", key_life=timedelta(hours=1))),
        args=trip,
        compensation=world.compensation("hotel.drop", drop),
    )
    report = explore(Saga("stay", trip, [hotel]), ROME, crashes=0)
    assert report.ok, str(report)
    assert report.ends["compensated"]
