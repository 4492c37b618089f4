"""Warnings: what works and will cost a person's time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from saga import IDEMPOTENT, Absent, Compensation, Effect, NothingToUndo, Provider, Saga
from saga.definition import warnings
from tests.definition.order_flow import order_flow
from tests.definition.trips import Hotel, Trip, book, step, trip


def found(effect: dict[str, Any] | None = None, undo: dict[str, Any] | None = None) -> list[str]:
    """The codes for one step; without `undo` there is nothing to undo."""
    compensation: Any = NothingToUndo("a test")
    if undo is not None:
        models = {"args": Trip, "receipt": undo.pop("receipt", Hotel)}
        compensation = Compensation("hotel.drop", lambda call: None, **models, **undo)
    one = step(effect=Effect("hotel.book", book, **(effect or {})), compensation=compensation)
    return [warning.code for warning in warnings(Saga("s", trip, [one]))]


def probe(call: object) -> Absent:
    return Absent()


facts = Provider("p", key_life=3600, in_flight=60, visible_after=1, late_until=600)


def test_without_probe_and_key_life_a_crash_goes_to_a_person() -> None:
    five_minutes = Saga("trip", trip, [step()])
    first = warnings(five_minutes)[0]
    assert (first.code, first.step) == ("nobody-can-say", "hotel")
    assert "a crash in this call goes to a person" in first.text
    assert "hotel.book@1" in first.text
    assert "probe=" in first.remedy
    assert "key_life" in first.remedy
    assert str(first).startswith("step 'hotel': hotel.book@1: ")


def test_the_undo_is_looked_at_like_the_effect() -> None:
    assert found({"provider": facts}, {}) == ["nobody-can-say"]
    assert found({}, {"provider": facts}) == ["nobody-can-say", "undo-needs-receipt"]


def test_what_is_declared_well_has_no_warning() -> None:
    assert found({"provider": facts, "probe": probe}, {"provider": facts, "probe": probe}) == []
    assert found({"provider": facts}) == []
    assert found({"provider": IDEMPOTENT}, {"provider": IDEMPOTENT}) == []
    assert warnings(order_flow) == []


def test_a_probe_without_facts_settles_nothing() -> None:
    assert found({"probe": probe}) == ["absent-never-counts", "no-watch"]
    half = Provider("p", in_flight=1, late_until=1)
    assert found({"probe": probe, "provider": half}) == ["absent-never-counts"]


def test_a_probe_without_late_until_watches_nothing() -> None:
    short = Provider("p", in_flight=1, visible_after=1)
    assert found({"probe": probe, "provider": short}) == ["no-watch"]


def test_a_key_life_that_is_over_before_a_resend_is_useless() -> None:
    assert found({"provider": Provider("p", key_life=30), "timeout": 15}) == ["never-resent"]
    assert found({"provider": Provider("p", key_life=31), "timeout": 15}) == []
    late = Provider("p", key_life=timedelta(hours=1), late_until=timedelta(hours=1))
    assert found({"provider": late}) == ["never-resent"]


def test_an_undo_that_needs_a_receipt_which_may_be_lost() -> None:
    assert "undo-needs-receipt" in found({}, {"provider": facts})
    assert "undo-needs-receipt" not in found({}, {"provider": facts, "receipt": Hotel | None})
    assert "undo-needs-receipt" not in found({"probe": probe}, {"provider": facts})
