"""Effects that nobody counts on any more: a second one, one after the end, one after its undo."""

from __future__ import annotations

from saga.machine.commands import Cancel, Reply, Report
from saga.machine.plan import BeginNow
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
    assert set(verdicts(ride.spec, ride.state, ride.case("a"), ride.now)) == {"undone", "accept"}
    assert refusal(ride.report("a", receipt="a second one")) == "nothing_new"
    ride.report("a", receipt="a third one")
    assert (ride.cases, ride.case("a").version) == (["late a"], 2)
    ride.resolve("a", "undone", evidence="I took both back")
    ride.reply("b", "landed")
    assert ride.phase == "completed"


def test_what_is_found_after_the_end_is_undone_and_does_not_change_the_outcome() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.reply("a", "refused")
    assert ride.phase == "compensated"
    ride.report("a")
    assert (ride.phase, ride.cases) == ("compensated", [])
    ride.done("undo a")
    assert (ride.phase, ride.state.rests) == ("compensated", True)


def test_an_undo_after_the_end_has_its_own_case_and_its_own_way_out() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.reply("a", "refused")
    ride.report("a")
    ride.go()
    ride.reply("undo a", "refused")
    assert (ride.phase, ride.cases) == ("compensated", ["undo_refused undo a"])
    ride.resolve("undo a", "retry")
    ride.done("undo a")
    assert (ride.phase, ride.state.rests, ride.state.accepted) == ("compensated", True, False)


def test_what_is_irreversible_and_found_after_the_end_is_a_case() -> None:
    ride = Ride(line("keys irreversible"))
    ride.go()
    ride.reply("a", "refused")
    ride.report("a")
    assert (ride.phase, ride.cases) == ("compensated", ["late a"])
    ride.resolve("a", "accept")
    assert (ride.phase, ride.cases) == ("compensated", [])


def absent(words: str) -> Ride:
    """One step, proven absent at 5 after its only attempt, in a run that has ended so."""
    ride = Ride(line(words))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.wait(3)
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")
    assert ride.phase == "compensated"
    return ride


def test_an_ended_run_stays_due_until_no_straggler_can_show_any_more() -> None:
    ride = absent("query late once")
    assert ride.action("a").watch == 7.0  # send_by 1, late_until 5, visible_after 1
    ride.wait_until_due()
    assert ride.asks == ["a"]
    ride.probe("a", "absent")
    assert (ride.state.rests, ride.plan.due) == (True, None)


def test_a_straggler_is_undone_under_the_key_that_was_written_ahead() -> None:
    ride = absent("query late once")
    ride.wait_until_due()
    ride.probe("a", "landed")
    key = ride.action("a").undo_key
    ride.done("undo a")
    assert (ride.action("undo a").key, ride.phase, ride.state.rests) == (key, "compensated", True)


def test_a_watch_that_learns_nothing_ends_before_a_person() -> None:
    ride = absent("query late once")
    ride.wait_until_due()
    ride.probe("a", "cannot_say")
    assert ride.cases == ["late a"]
    assert "straggler" in ride.case("a").text
    assert set(verdicts(ride.spec, ride.state, ride.case("a"), ride.now)) == {
        "probe",
        "undone",
        "accept",
    }
    ride.resolve("a", "probe")
    ride.probe("a", "absent")
    assert (ride.cases, ride.state.rests) == ([], True)


def test_what_was_undone_while_unknown_and_then_lands_is_a_case_with_both_receipts() -> None:
    ride = Ride(line("query late blind once", "keys"))
    ride.go()
    ride.reply("a", "unknown")
    ride.tell(Cancel(at=ride.now, reason="no more", actor=None))
    ride.probe("a", "cannot_say")
    ride.wait_until_due()
    ride.done("undo a")
    assert ride.phase == "compensated"
    ride.wait_until_due()
    ride.probe("a", "landed")
    assert (ride.cases, ride.action("a").others) == (["late a"], ["a done"])


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


def test_what_lands_of_a_superseded_generation_is_undone_and_the_run_goes_on() -> None:
    ride = unknown("nothing")
    old = ride.action("a")
    ride.resolve("a", "retry")
    ride.go()
    ride.tell(Report(at=ride.now, key=old.key, digest=old.digest, attempt=1, receipt="late"))
    assert [todo.of_key for todo in ride.plan.todo if isinstance(todo, BeginNow)] == [old.key]
    ride.reply("a", "landed")
    assert (ride.phase, ride.state.rests) == ("completed", False)
    ride.go()
    undo = ride.state.undo_of(old)
    assert undo is not None
    assert undo.key == "i/r/a/-@1/undo@1"
    ride.tell(Reply(at=ride.now, key=undo.key, attempt=1, result="landed", receipt="back"))
    assert (ride.phase, ride.state.rests) == ("completed", True)


def test_what_was_accepted_and_then_lands_is_shown_to_a_person() -> None:
    ride = unknown("keys once")
    ride.resolve("a", "accept")
    assert ride.phase == "settled"
    ride.report("a")
    assert ride.cases == ["late a"]
