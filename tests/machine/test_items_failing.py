"""The items of an `Each` that fail, are skipped or are a person's; when an `Each` is a pivot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.machine.list_ride import ListRide, item_fates, listing, over
from tests.machine.ride import refusal


def test_an_optional_item_is_skipped_and_the_others_go_on() -> None:
    ride = ListRide(listing("keys each optional", "keys", parallel=2), ["x"] * 4)
    ride.go()
    ride.reply("a#1", "refused")
    assert ride.go() == ["a#2"]
    assert ride.states() == "sending skipped sending"
    ride.reply("a#0", "landed")
    ride.reply("a#2", "landed")
    ride.go()
    ride.reply("a#3", "refused")
    ride.done("b")
    assert ride.phase == "completed"
    fates = [fate for _, fate in item_fates(ride)]
    assert fates == ["landed", "never", "landed", "never", "landed"]


def test_an_optional_item_that_is_unknown_is_not_skipped() -> None:
    ride = over("nothing each optional lone", ["x"] * 2, parallel=2)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#1", "landed")
    assert (ride.phase, ride.cases) == ("running", ["unknown a#0"])
    ride.resolve("a#0", "absent")
    ride.wait(1)
    ride.go()
    ride.reply("a#0", "refused")
    assert (ride.phase, ride.states()) == ("completed", "skipped landed")


def test_each_item_has_its_own_attempts() -> None:
    ride = over("keys each thrice optional", ["x"] * 2, parallel=2)
    ride.go()
    for _ in range(2):
        ride.reply("a#0", "not_sent")
        ride.wait(1)
        assert ride.go() == ["a#0"]
    ride.reply("a#1", "not_sent")
    ride.wait(1)
    assert ride.go() == ["a#1"]
    ride.reply("a#0", "not_sent")
    assert ride.states() == "skipped sending"
    assert (ride.action("a#0").attempts, ride.action("a#1").attempts) == (3, 2)


def test_each_item_has_its_own_case() -> None:
    ride = over("nothing each lone", ["x"] * 3, parallel=3)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#2", "unknown")
    assert ride.cases == ["unknown a#0", "unknown a#2"]
    assert "a#2 (do@1)" in ride.case("a#2").text
    assert ride.case("a#0").id != ride.case("a#2").id
    ride.resolve("a#2", "landed", receipt="seen")
    assert (ride.cases, ride.states()) == (["unknown a#0"], "unknown sending landed")


def test_a_new_generation_is_that_of_the_item() -> None:
    ride = over("keys each lives", ["x", "y"], parallel=2)
    ride.go()
    ride.reply("a#0", "refused")
    ride.wait(1)
    assert ride.go() == ["a#0"]
    first, _, second = ride.state.actions.values()
    assert (first.key, first.item) != (second.key, "1")
    renewed = ride.action("a#0")
    assert (renewed.generation, ride.action("a#1").generation) == (2, 1)
    assert renewed.key == f"{first.key}~2"


# ---- pivots


def test_an_irreversible_each_is_a_pivot_from_its_first_item_on() -> None:
    ride = over("keys each irreversible", ["x"] * 3, parallel=1)
    ride.go()
    assert not ride.state.past_pivot
    ride.reply("a#0", "landed")
    assert ride.state.past_pivot
    assert refusal(ride.cancel()) == "point_of_no_return"
    ride.done("a#1", "a#2")
    assert ride.phase == "completed"


def test_a_cancel_before_its_first_item_has_landed_waits_for_it() -> None:
    ride = over("keys each irreversible", ["x"] * 3, parallel=2)
    ride.go()
    assert not refusal(ride.cancel())
    assert (ride.phase, ride.go()) == ("running", [])
    ride.reply("a#0", "refused")
    ride.reply("a#1", "refused")
    assert ride.phase == "compensated"
    assert item_fates(ride) == [("0", "never"), ("1", "never"), ("2", "never")]


def test_what_fails_past_the_first_irreversible_item_is_a_persons() -> None:
    ride = over("keys each irreversible once", ["x"] * 2, parallel=2)
    ride.go()
    ride.reply("a#0", "landed")
    ride.reply("a#1", "not_sent")
    assert (ride.phase, ride.cases) == ("running", ["exhausted a#1"])


def test_a_declared_pivot_is_one_when_all_items_have_landed() -> None:
    spec = listing("keys each pivot", "keys reads", parallel=1)
    ride = ListRide(spec, ["x"] * 2)
    ride.done("a#0")
    assert not ride.state.past_pivot
    twin = ListRide(spec, ["x"] * 2)
    twin.done("a#0")
    twin.go()
    twin.reply("a#1", "refused")
    twin.done("undo a#0")
    assert twin.phase == "compensated"
    ride.done("a#1")
    assert ride.state.past_pivot
    assert refusal(ride.cancel()) == "point_of_no_return"


@pytest.mark.parametrize("order", [("landed", "refused"), ("refused", "landed")])
def test_an_optional_pivot_is_one_in_whatever_order_its_items_end(order: tuple[str, str]) -> None:
    ride = ListRide(listing("keys each pivot optional", "keys reads", parallel=2), ["x"] * 2)
    ride.go()
    for number, result in enumerate(order):
        ride.reply(f"a#{number}", result)
    assert ride.states().split() == ["landed" if one == "landed" else "skipped" for one in order]
    assert ride.state.past_pivot


def test_an_optional_pivot_of_which_nothing_landed_is_none() -> None:
    ride = ListRide(listing("keys each pivot optional", "keys reads", parallel=2), ["x"] * 2)
    ride.go()
    for number in range(2):
        ride.reply(f"a#{number}", "refused")
    assert not ride.state.past_pivot


def test_the_deadline_stops_the_items_that_have_not_begun() -> None:
    spec = replace(listing("keys each", parallel=1), deadline=5.0)
    ride = ListRide(spec, ["x"] * 3)
    ride.done("a#0")
    ride.go()
    ride.wait(5)
    ride.reply("a#1", "landed")
    assert ride.state.phase == "compensating"
    assert ride.go() == ["undo a#1"]
    assert ride.begun() == 2
