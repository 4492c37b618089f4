"""A saga as a step of another: its steps in the parent's graph, with the parent's input."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest
from pydantic import BaseModel

from saga import (
    Approval,
    Call,
    Compensation,
    Effect,
    NothingToUndo,
    Saga,
    Step,
    SubSaga,
    Undo,
    Wait,
    bind,
    input_of,
)
from saga.errors import DefinitionError
from saga.testing import run


class Trip(BaseModel):
    city: str
    nights: int = 1


class Booking(BaseModel):
    id: str


class Order(BaseModel):
    name: str
    trip: Trip


class Note(BaseModel):
    text: str


DONE: list[str] = []


async def book(call: Call[Trip]) -> Booking:
    DONE.append(call.step)
    return Booking(id=f"{call.step} in {call.args.city}")


async def drop(call: Undo[Trip, Booking]) -> None:
    DONE.append(f"undo {call.step}")


async def note(call: Call[Note]) -> Booking:
    DONE.append(call.args.text)
    if call.args.text == "no":
        raise ValueError
    return Booking(id=call.args.text)


trip = input_of(Trip)
order = input_of(Order)
DROP = Compensation("drop", drop)


def booking(name: str, **given: Any) -> Step[Trip, Booking]:
    return Step(name, Effect("book", book), args=trip, compensation=DROP, **given)


def child(**given: Any) -> Saga[Trip]:
    hotel, car = booking("hotel"), booking("car", after=[])
    told = Step(
        "told",
        Effect("note", note, refused=[ValueError]),
        args=bind(Note)(text=hotel.receipt.id),
        compensation=NothingToUndo("a note"),
        after=[hotel, car],
    )
    return Saga("trip", trip, [hotel, car, told], **given)


def parent(sub: SubSaga[Trip], *more: Any) -> Saga[Order]:
    start = Step(
        "start",
        Effect("note", note, refused=[ValueError]),
        args=bind(Note)(text=order.name),
        compensation=NothingToUndo("a note"),
    )
    return Saga("order", order, [start, sub, *more])


def test_its_steps_are_in_the_graph_of_the_parent_between_before_and_after() -> None:
    sub = SubSaga("trip", child(), args=order.trip)
    last = Step(
        "last",
        Effect("note", note, refused=[ValueError]),
        args=bind(Note)(text=sub.step("hotel").receipt.id),
        compensation=NothingToUndo("a note"),
    )
    flow = parent(sub, last)
    rows = flow.spec()["steps"]
    assert [(row["name"], row["after"]) for row in rows] == [
        ("start", []),
        ("trip.hotel", ["start"]),
        ("trip.car", ["start"]),
        ("trip.told", ["trip.hotel", "trip.car"]),
        ("last", ["trip.told"]),
    ]
    assert rows[1]["args"] == {"ref": ["input", "trip"]}
    assert rows[3]["args"]["fields"]["text"] == {"ref": ["trip.hotel", "receipt", "id"]}
    assert flow.spec()["groups"] == [{"name": "trip", "saga": "trip@1", "deadline": None}]
    assert [row.get("groups") for row in rows] == [None, ["trip"], ["trip"], ["trip"], None]


def test_it_runs_and_is_undone_as_a_part_of_its_parent() -> None:
    DONE.clear()
    sub = SubSaga("trip", child(), args=bind(Trip)(city="Rome"))
    no = Step(
        "no",
        Effect("note", note, refused=[ValueError]),
        args=bind(Note)(text="no"),
        compensation=NothingToUndo("a note"),
    )
    ended = run(parent(sub, no), Order(name="o1", trip=Trip(city="x")))
    assert (ended.outcome, ended.cause_step) == ("compensated", "no")
    assert DONE[0] == "o1"
    assert sorted(DONE[1:3]) == ["trip.car", "trip.hotel"]
    assert DONE[3:5] == ["trip.hotel in Rome", "no"]
    assert sorted(DONE[5:]) == ["undo trip.car", "undo trip.hotel"]


def test_one_saga_may_be_used_twice_and_within_another() -> None:
    inner = Saga("inner", trip, [SubSaga("there", child(), args=trip), booking("last")])
    one, two = (SubSaga(name, inner, args=order.trip, after=[]) for name in ("a", "b"))
    names = [row["name"] for row in Saga("twice", order, [one, two]).spec()["steps"]]
    assert names[:4] == ["a.there.hotel", "a.there.car", "a.there.told", "a.last"]
    assert len(names) == 8
    groups = Saga("twice", order, [one, two]).spec()["groups"]
    assert [group["name"] for group in groups] == ["a", "a.there", "b", "b.there"]


def test_what_comes_after_it_follows_its_last_steps() -> None:
    two_ends = Saga("two", trip, [booking("hotel"), booking("car", after=[])])
    sub = SubSaga("trip", two_ends, args=order.trip)
    later = booking("later", after=[sub])
    later.args, later.build = sub.steps[0].args, sub.steps[0].build
    rows = Saga("order", order, [sub, later]).spec()["steps"]
    assert rows[2]["after"] == ["trip.hotel", "trip.car"]


def test_its_own_deadline_bounds_its_steps() -> None:
    slow = Saga("slow", trip, [booking("hotel"), Wait("nap", time=60)], deadline=30)
    sub = SubSaga("trip", slow, args=order.trip)
    flow = parent(sub)
    assert flow.machine_spec.limits == (("trip", 30.0),)
    ended = run(flow, Order(name="o1", trip=Trip(city="Rome")))
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "deadline", "trip.nap")
    assert ended.ended_at is not None
    assert ended.ended_at - ended.started_at < timedelta(seconds=60)


def test_an_approval_of_it_rests_on_its_own_steps() -> None:
    hotel = booking("hotel")
    asks = booking("asks", approval=Approval(by="ada", expires=60, observed=hotel))
    sub = SubSaga("trip", Saga("trip", trip, [hotel, asks]), args=order.trip)
    row = parent(sub).spec()["steps"][2]
    assert row["approval"]["observed"] == "trip.hotel"


def test_it_is_drawn_as_a_box() -> None:
    drawing = parent(SubSaga("trip", child(), args=order.trip)).draw()
    assert 'subgraph g_trip["trip: trip 1"]' in drawing
    assert drawing.count("    end\n") == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DefinitionError) as raised:
        SubSaga("trip", child(), args=cast("Any", order))
    assert raised.value.code == "models-differ"
    with pytest.raises(DefinitionError) as raised:
        SubSaga("a name that is none", child(), args=order.trip)
    assert raised.value.code == "bad-name"
    sub = SubSaga("trip", child(), args=order.trip)
    with pytest.raises(DefinitionError) as raised:
        Saga("order", order, [sub, sub])
    assert raised.value.code == "duplicate-step"
    with pytest.raises(KeyError):
        sub.step("none")
