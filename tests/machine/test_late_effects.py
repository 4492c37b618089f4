"""Effects that nobody counts on any more: a second one, one after the end, one after its undo."""

from __future__ import annotations

from saga.machine.commands import Report
from saga.machine.verdicts import verdicts
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line


def unknown(words: str) -> Ride:
    """One step, unknown at 1, and a person must decide."""
    ride = Ride(line(words))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    return ride


def test_equal_evidence_says_nothing_new() -> None:
    ride = Ride(line("keys"))
    ride.done("a")
    assert refusal(ride.report("a")) == "nothing_new"


def test_another_receipt_is_a_second_effect_and_a_case_whatever_the_state() -> None:
    ride = Ride(line("keys", "keys"))
    ride.done("a")
    ride.go()
    ride.report("a", receipt="a second one")
    assert ride.cases == ["late a"]
    assert set(verdicts(ride.spec, ride.state, ride.case("a"))) == {"undone", "accept"}
    assert refusal(ride.report("a", receipt="a second one")) == "nothing_new"
    ride.report("a", receipt="a third one")
    assert (ride.cases, ride.case("a").version) == (["late a"], 2)
    ride.resolve("a", "undone", evidence="I took both back")
    ride.reply("b", "landed")
    assert ride.phase == "completed"


def test_what_is_found_after_the_end_is_a_case_and_does_not_change_the_outcome() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.reply("a", "refused")
    assert ride.phase == "compensated"
    ride.report("a")
    assert (ride.phase, ride.cases) == ("compensated", ["late a"])
    ride.resolve("a", "accept")
    assert (ride.phase, ride.cases) == ("compensated", [])


def test_a_second_landed_undo_is_a_case() -> None:
    ride = Ride(line("nothing", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.reply("undo a", "unknown")
    old = ride.action("undo a")
    ride.wait(1)
    ride.wake()
    ride.resolve("undo a", "retry")
    ride.done("undo a")
    assert ride.phase == "compensated"
    ride.tell(Report(at=9.0, key=old.key, digest=old.digest, attempt=1, receipt="too"))
    assert (ride.phase, ride.state.open_cases) == ("compensated", 1)


def test_what_lands_of_a_superseded_generation_is_a_case_and_the_run_goes_on() -> None:
    ride = unknown("nothing")
    old = ride.action("a")
    ride.resolve("a", "retry")
    ride.go()
    ride.tell(Report(at=ride.now, key=old.key, digest=old.digest, attempt=1, receipt="late"))
    assert ride.state.open_cases == 1
    ride.reply("a", "landed")
    assert ride.phase == "completed"


def test_what_was_accepted_and_then_lands_is_shown_to_a_person() -> None:
    ride = unknown("keys once")
    ride.resolve("a", "accept")
    assert ride.phase == "settled"
    ride.report("a")
    assert ride.cases == ["late a"]
