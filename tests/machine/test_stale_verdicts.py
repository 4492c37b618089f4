"""A verdict that was shown before the run turned means something else by now."""

from __future__ import annotations

from dataclasses import replace

from saga.machine.commands import Cancel
from saga.machine.verdicts import verdicts
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line


def test_a_verdict_that_was_shown_before_the_run_turned_is_stale() -> None:
    """`landed` said that the run goes on from there; after the cancel it would be undone."""
    ride = Ride(line("nothing"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    shown = ride.case("a").version
    ride.tell(Cancel(at=ride.now, reason="ticket 4711", actor="bob"))
    blind = ride.resolve("a", "landed", receipt="r", case_version=shown)
    assert refusal(blind) == "stale_case"
    ride.resolve("a", "landed", receipt="r")
    assert (ride.state.cause_reason, ride.state.cause_actor) == ("ticket 4711", "bob")
    assert ride.cases == []


def test_what_was_shown_before_the_deadline_is_stale_though_nobody_has_recorded_that() -> None:
    ride = Ride(replace(line("nothing", "nothing"), deadline=8.0))
    ride.go()
    ride.reply("a", "unknown")
    assert verdicts(ride.spec, ride.state, ride.case("a"), 7.0)["landed"].endswith("from there.")
    ride.now = 9.0
    early = ride.resolve("a", "landed", receipt="r", looked_at=7.0)
    assert refusal(early) == "stale_case"
    ride.resolve("a", "landed", receipt="r", looked_at=8.5)
    assert ride.phase == "compensating"


def test_a_pivot_that_has_landed_after_all_leads_on_whatever_has_stopped_the_run() -> None:
    ride = Ride(line("nothing", "nothing pivot", "nothing"))
    ride.done("a")
    ride.go()
    ride.reply("b", "unknown")
    ride.tell(Cancel(at=ride.now, reason="enough", actor="bob"))
    assert (
        "only goes forward" in verdicts(ride.spec, ride.state, ride.case("b"), ride.now)["landed"]
    )
    ride.resolve("b", "landed", receipt="r")
    assert (ride.phase, ride.go()) == ("running", ["c"])
