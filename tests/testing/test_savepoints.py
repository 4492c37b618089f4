"""Back to a savepoint, and on by another path."""

from __future__ import annotations

from typing import Any

import pytest

from saga import Refused, Run, Saga, Savepoint, Unknown
from saga.testing import run
from tests.testing.bookings import calls, step, trip

inner = Savepoint("seat", steps=[step("window")], instead=[step("aisle")])
way = Savepoint("way", steps=[step("train"), inner, step("meal")], instead=[step("bus")])
saga = Saga("trip", trip, [step("hotel"), way, step("tour")])


@pytest.fixture(autouse=True)
def _nothing_called() -> None:
    calls.clear()


def go(*refused: str, **answers: Any) -> Run:
    return run(saga, {"city": "Rome"}, answers={one: Refused("no") for one in refused} | answers)


def test_the_first_path_is_enough() -> None:
    ended = go()
    assert ended.outcome == "completed"
    assert calls == ["hotel", "train", "window", "meal", "tour"]
    assert [line.step for line in ended.settlement] == calls


def test_only_what_lies_behind_the_savepoint_is_undone() -> None:
    ended = go("meal")
    assert ended.outcome == "completed"
    assert calls == [
        "hotel",
        "train",
        "window",
        "drop window",
        "drop train",
        "bus",
        "tour",
    ]
    fates = {line.step: line.fate for line in ended.settlement}
    assert fates == {
        "hotel": "landed",
        "train": "undone",
        "window": "undone",
        "meal": "never",
        "bus": "landed",
        "tour": "landed",
    }
    assert [(one.step, one.state) for one in ended.failures] == [("meal", "refused")]


def test_the_inner_one_comes_first_and_the_outer_one_after_it() -> None:
    assert go("window").outcome == "completed"
    assert calls == ["hotel", "train", "aisle", "meal", "tour"]
    calls.clear()
    assert go("window", "aisle").outcome == "completed"
    assert calls == ["hotel", "train", "drop train", "bus", "tour"]
    calls.clear()
    assert go("window", "meal").outcome == "completed"
    assert calls == ["hotel", "train", "aisle", "drop aisle", "drop train", "bus", "tour"]


def test_when_the_other_path_fails_too_the_run_is_undone() -> None:
    ended = go("meal", "bus")
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "refused", "bus")
    assert calls == ["hotel", "train", "window", "drop window", "drop train", "drop hotel"]


def test_what_fails_behind_it_undoes_the_path_that_was_taken() -> None:
    ended = go("meal", "tour")
    assert ended.outcome == "compensated"
    assert calls[-2:] == ["drop bus", "drop hotel"]
    assert calls.count("drop train") == 1


def test_an_unknown_step_is_settled_before_it_is_left_behind() -> None:
    ended = go("meal", window=[Unknown("?"), {"id": "window"}])
    assert ended.outcome == "completed"
    assert calls == ["hotel", "train", "drop window", "drop train", "bus", "tour"]


def test_an_undo_that_is_refused_keeps_the_other_path_from_being_taken() -> None:
    ended = go("meal", "window/undo")
    assert (ended.phase, len(ended.cases)) == ("running", 1)
    assert "bus" not in calls
