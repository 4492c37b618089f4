"""Savepoints as data: two paths, one row of steps."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    Call,
    Compensation,
    Effect,
    Irreversible,
    NothingToUndo,
    Saga,
    Savepoint,
    Step,
    SubSaga,
    Undo,
    bind,
    input_of,
)
from saga.definition import difference
from tests.definition.refusals import code_of


class Trip(BaseModel):
    city: str


class Booking(BaseModel):
    id: str


class Full(Exception):
    pass


async def book(call: Call[Trip]) -> Booking:
    return Booking(id=call.step)


async def drop(call: Undo[Trip, Booking]) -> None:
    pass


async def note(call: Call[Booking]) -> Booking:
    return call.args


trip = input_of(Trip)
undo = Compensation("drop", drop)
final = Irreversible("it is gone")
reads = NothingToUndo("reads")


def step(name: str, *, after: Any = None, undone: Any = undo, refused: Any = ()) -> Step[Any, Any]:
    effect = Effect(f"book.{name}", book, refused=refused)
    return Step(name, effect, args=trip, compensation=undone, after=after)


def noted(name: str, source: Any) -> Step[Any, Any]:
    return Step(name, Effect("note", note), args=source.receipt, compensation=reads)


def edges(saga: Saga[Any]) -> dict[str, list[str]]:
    return {row["name"]: row["after"] for row in saga.spec()["steps"]}


def paths(saga: Saga[Any]) -> dict[str, Any]:
    return {row["name"]: row.get("path") for row in saga.spec()["steps"]}


def test_both_paths_follow_what_the_savepoint_follows_and_are_followed_together() -> None:
    way = Savepoint("way", steps=[step("train"), step("seat")], instead=[step("bus")])
    saga = Saga("s", trip, [step("hotel"), way, step("tour")])
    assert edges(saga) == {
        "hotel": [],
        "train": ["hotel"],
        "seat": ["train"],
        "bus": ["hotel"],
        "tour": ["seat", "bus"],
    }
    assert paths(saga) == {
        "hotel": None,
        "train": [["way", False]],
        "seat": [["way", False]],
        "bus": [["way", True]],
        "tour": None,
    }
    assert "instead, after savepoint way" in saga.draw()


def test_after_names_a_savepoint_and_branches_within_end_it_together() -> None:
    one, two = step("one"), step("two", after=[])
    way = Savepoint("way", steps=[one, two], instead=[step("other")], after=[])
    saga = Saga("s", trip, [step("first"), way, step("last", after=[way])])
    assert edges(saga)["last"] == ["one", "two", "other"]
    assert edges(saga)["two"] == []


def test_savepoints_nest_and_hold_sub_sagas() -> None:
    child = Saga(
        "child", trip, [Savepoint("pick", steps=[step("a")], instead=[step("b")]), step("c")]
    )
    sub = SubSaga("sub", child, args=bind(Trip)(city=trip.city))
    inner = Savepoint("inner", steps=[step("train")], instead=[step("bus")])
    way = Savepoint("way", steps=[inner, step("seat")], instead=[sub])
    saga = Saga("s", trip, [way, step("tour")])
    assert paths(saga) == {
        "train": [["way", False], ["inner", False]],
        "bus": [["way", False], ["inner", True]],
        "seat": [["way", False]],
        "sub.a": [["way", True], ["sub.pick", False]],
        "sub.b": [["way", True], ["sub.pick", True]],
        "sub.c": [["way", True]],
        "tour": None,
    }
    assert edges(saga)["tour"] == ["seat", "sub.c"]
    assert edges(saga)["seat"] == ["train", "bus"]


def test_a_path_is_part_of_the_meaning() -> None:
    plain = Saga("s", trip, [step("train"), step("bus")])
    either = Saga("s", trip, [Savepoint("way", steps=[step("train")], instead=[step("bus")])])
    assert plain.digest() != either.digest()
    texts = [str(one) for one in difference(plain.spec(), either.spec())]
    assert "step 'bus': savepoints was nothing, is or way" in texts


def test_nobody_outside_a_path_refers_to_its_receipts() -> None:
    train, bus = step("train"), step("bus")
    within = Savepoint("way", steps=[train, noted("told", train)], instead=[bus])
    assert Saga("s", trip, [within]).steps[0] is train
    for source in (train, bus):
        way = Savepoint("way", steps=[train], instead=[bus])
        after = noted("told", source)
        assert code_of(lambda w=way, a=after: Saga("s", trip, [w, a])) == "not-before"
    beside = Savepoint("way", steps=[train], instead=[noted("told", train)])
    assert code_of(lambda: Saga("s", trip, [beside])) == "not-before"


@pytest.mark.parametrize(
    "given",
    [
        {"steps": [], "instead": [1]},
        {"steps": [1], "instead": []},
        {"steps": ["x"], "instead": [1]},
    ],
    ids=range(3),
)
def test_both_paths_have_steps(given: dict[str, list[Any]]) -> None:
    named = {
        way: [step(f"{way}{one}") if one == 1 else one for one in entries]
        for way, entries in given.items()
    }
    assert code_of(lambda: Savepoint("way", **named)) == "bad-savepoint"


def test_a_savepoint_stands_once() -> None:
    one = Savepoint("way", steps=[step("a")], instead=[step("b")])
    two = Savepoint("way", steps=[step("c")], instead=[step("d")])
    assert code_of(lambda: Saga("s", trip, [one, two])) == "duplicate-savepoint"


def test_behind_a_pivot_what_can_be_undone_has_a_savepoint_to_go_back_to() -> None:
    refusable = {"refused": [Full]}
    pivot = step("pay", undone=final)
    sure = step("bus", undone=reads)
    way = Savepoint("way", steps=[step("train", **refusable)], instead=[sure])
    assert Saga("s", trip, [pivot, way]).steps[0] is pivot
    unsure = Savepoint("way", steps=[step("train")], instead=[step("bus")])
    assert code_of(lambda: Saga("s", trip, [pivot, unsure])) == "past-pivot"
    within = Savepoint("way", steps=[pivot, step("train")], instead=[sure])
    assert code_of(lambda: Saga("s", trip, [within])) == "past-pivot"
    either = Savepoint("way", steps=[pivot], instead=[step("bus", **refusable)])
    assert Saga("s", trip, [either]).steps[0] is pivot
