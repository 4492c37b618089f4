"""Each law that a ledger can show is shown by one that was altered, and named by its number."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from saga import Provider
from saga.testing import Fate, Violation, World, check_laws
from tests.testing.trips import run_trips, trips

Ledger = list[dict[str, Any]]


@pytest.fixture
def completed(tmp_path: Path) -> tuple[str, Ledger]:
    world = World()
    return run_trips(tmp_path, world, trips(world)), world.ledger


@pytest.fixture
def compensated(tmp_path: Path) -> tuple[str, Ledger]:
    world = World()
    world.meets("car.book", Fate.REFUSE)
    saga = trips(world, names=("hotel", "flight", "car"))
    (tmp_path / "another").mkdir()
    return run_trips(tmp_path / "another", world, saga), world.ledger


def laws(url: str, ledger: Ledger) -> list[int]:
    return [violation.law for violation in check_laws(url, ledger)]


def test_what_went_well_breaks_no_law(
    completed: tuple[str, Ledger], compensated: tuple[str, Ledger]
) -> None:
    assert check_laws(*completed) == []
    assert check_laws(*compensated) == []


def test_a_violation_names_law_run_and_what_was_found(completed: tuple[str, Ledger]) -> None:
    url, ledger = completed
    (violation,) = check_laws(url, ledger[1:])
    assert violation == Violation(12, "t1", violation.detail)
    assert ledger[0]["key"] in violation.detail
    assert str(violation).startswith("law 12 (A missing field never means")


def test_what_lands_without_an_intent_breaks_law_1(completed: tuple[str, Ledger]) -> None:
    url, ledger = completed
    assert laws(url, [*ledger, {**ledger[0], "key": "another"}]) == [1]
    assert laws(url, [*ledger, {**ledger[0], "run_id": "another"}]) == [1]
    assert laws(url, [{**ledger[0], "step": "flight"}, ledger[1]]) == [1]
    assert laws(url, [{**ledger[0], "at": 1.0}, ledger[1]]) == [1]


def test_what_lands_twice_under_one_key_breaks_law_2(completed: tuple[str, Ledger]) -> None:
    url, ledger = completed
    assert 2 in laws(url, [*ledger, ledger[0]])


def test_what_stands_after_a_compensated_run_breaks_law_3(
    compensated: tuple[str, Ledger],
) -> None:
    url, ledger = compensated
    without = [entry for entry in ledger if entry["of_key"] != ledger[0]["key"]]
    assert laws(url, without) == [3]


def test_what_lands_after_it_was_undone_breaks_law_3(compensated: tuple[str, Ledger]) -> None:
    url, ledger = compensated
    assert 3 in laws(url, [*ledger[1:], ledger[0]])


def test_what_was_refused_and_landed_all_the_same_breaks_law_3(
    compensated: tuple[str, Ledger],
) -> None:
    url, ledger = compensated
    key = ledger[0]["key"].replace("hotel", "car")
    assert 3 in laws(url, [*ledger, {**ledger[0], "key": key, "step": "car"}])


def test_what_lands_after_what_it_follows_was_undone_breaks_law_9(
    compensated: tuple[str, Ledger],
) -> None:
    url, (hotel, flight, *undos) = compensated
    assert 9 in laws(url, [hotel, *undos, flight])


def test_what_waits_for_a_person_breaks_no_law(tmp_path: Path) -> None:
    world = World()
    world.meets("flight.book", Fate.LOSE_REPLY)
    nothing = trips(world, provider=Provider("shop"), probe=False)
    assert check_laws(run_trips(tmp_path, world, nothing), world.ledger) == []


def test_an_older_generation_whose_undo_waits_for_a_person_breaks_no_law(tmp_path: Path) -> None:
    world = World()
    world.meets("hotel.book", Fate.STRAGGLE)
    world.meets("hotel.drop", Fate.REFUSE)
    asked = Provider("shop", in_flight=30, visible_after=10, late_until=300)
    url = run_trips(tmp_path, world, trips(world, provider=asked, names=["hotel"]))
    assert [entry["of_key"] for entry in world.ledger] == [None, None]
    assert check_laws(url, world.ledger) == []


@pytest.mark.parametrize("kind", ["seconds", "text", "time", "nothing"])
def test_a_ledger_may_tell_its_times_in_several_ways(
    completed: tuple[str, Ledger], kind: str
) -> None:
    url, ledger = completed
    moment = datetime.fromtimestamp(ledger[0]["at"], UTC)
    at = {"seconds": 2e9, "text": moment.isoformat(), "time": moment, "nothing": None}[kind]
    assert check_laws(url, [{**entry, "at": at} for entry in ledger]) == []


def test_a_record_that_was_altered_breaks_law_14(completed: tuple[str, Ledger]) -> None:
    import sqlite3  # noqa: PLC0415  whoever tampers does not ask us

    url, ledger = completed
    with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
        file.execute("UPDATE runs SET outcome = 'settled'")
    assert laws(url, ledger) == [14]
