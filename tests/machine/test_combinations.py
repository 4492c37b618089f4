"""What two blocks do together: found by an attack on them, each with what had gone wrong."""

from __future__ import annotations

from saga.machine.commands import Cancel, Decide, Lost, Reply, Signal
from tests.machine.ride import ERROR, Ride, refusal, sent
from tests.machine.sagas import line, saga


def test_a_probe_that_a_person_wants_ends_with_its_answer_whatever_it_is() -> None:
    """It was asked without pause where the answer was on record already."""
    ride = sent("keys query late")
    ride.probe("a", "cannot_say")
    ride.wait_until_due()
    ride.probe("a", "cannot_say")
    assert ride.cases == ["unknown a"]
    ride.resolve("a", "undone", evidence="taken back")
    ride.report("a")
    assert ride.cases == ["late a"]
    ride.resolve("a", "probe")
    assert ride.asks == ["a"]
    ride.probe("a", "landed")
    assert ride.action("a").wish is None


def test_a_refusal_by_who_has_approved_before_refuses() -> None:
    ride = Ride(line("keys twice"))
    ride.go()
    action = ride.action("a")
    for approve in (True, False):
        command = Decide(
            at=0.0,
            step="a",
            approve=approve,
            version=7,
            digest=action.digest,
            actor="ada",
            reason="",
        )
        ride.tell(command)
    assert (ride.phase, ride.state.cause) == ("compensated", "refused")


def test_the_case_of_a_wait_offers_only_what_can_be_done_about_a_wait() -> None:
    ride = Ride(line("keys pivot", "signal"))
    ride.done("a")
    ride.wait(3)
    ride.wake()
    assert ride.cases == ["exhausted b"]
    assert refusal(ride.resolve("b", "retry")) == "not_possible"
    assert ride.go() == []


def test_while_a_cancel_waits_for_a_pivot_signals_are_still_taken() -> None:
    ride = Ride(saga(["keys query irreversible", "signal"], [[], []]))
    ride.go()
    ride.tell(Cancel(at=0.0, reason="no more", actor=None))
    ride.tell(Signal(at=0.0, wait="b", message="m", payload={"n": 1}, actor=None))
    ride.reply("a", "landed")
    assert ride.phase == "completed"


def test_a_cancel_does_not_wait_for_the_undo_of_a_straggler() -> None:
    ride = Ride(line("query late pivot", "keys reads"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    for _ in range(2):
        ride.wait(3)
        ride.probe("a", "absent")
    first = ride.state.actions["i/r/a/-@1"]
    ride.go()
    ride.reply("a", "not_sent")
    late = Reply(at=ride.now, key=first.key, attempt=1, result="landed", receipt="late")
    ride.tell(late)
    ride.go()
    ride.tell(Cancel(at=ride.now, reason="no more", actor=None))
    assert ride.phase == "compensating"


def test_deaths_are_counted_over_the_generations_of_an_action() -> None:
    ride = Ride(line("query thrice"))
    for death in range(2):
        ride.go()
        ride.tell(Lost(at=ride.now))
        if death == 0:
            for _ in range(2):
                ride.wait(4)
                ride.probe("a", "absent")
    for _ in range(2):
        ride.wait(4)
        ride.probe("a", "absent")
    assert ride.cases == ["crashed a"]


def test_what_a_shutdown_cuts_off_is_nothing_that_the_provider_has_said() -> None:
    ride = Ride(line("keys query lives"))
    for number in (1, 2):
        ride.go()
        cut = Reply(
            at=ride.now,
            key="i/r/a/-@1",
            attempt=number,
            result="unknown",
            error=ERROR,
            interrupted=True,
        )
        ride.tell(cut)
        ride.probe("a", "cannot_say")
        ride.wait_until_due()
    assert not ride.action("a").repeats


def test_an_undo_that_a_person_has_done_by_hand_is_watched_for_the_one_that_was_sent() -> None:
    ride = Ride(line("query late", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.wait(1)
    ride.reply("undo a", "unknown")
    ride.probe("undo a", "cannot_say")
    ride.wait(3)
    ride.probe("undo a", "cannot_say")
    assert ride.cases == ["unknown undo a"]
    ride.resolve("undo a", "undone", evidence="by hand")
    assert (ride.phase, ride.state.rests) == ("compensated", False)
    ride.wait_until_due()
    ride.probe("undo a", "landed")
    assert ride.cases == ["late undo a"]


def test_what_was_proven_absent_may_turn_out_to_be_so_already() -> None:
    ride = sent("keys query")
    for _ in range(2):
        ride.wait(4)
        ride.probe("a", "absent")
    ride.go()
    ride.reply("a", "satisfied", receipt={"status": "closed"})
    assert (ride.phase, ride.action("a").state) == ("completed", "skipped")


def test_hundreds_of_waits_may_end_together() -> None:
    names = ["naps"] * 8
    ride = Ride(saga(names, [[] for _ in names]))
    ride.wait(2)
    ride.wake()
    assert ride.phase == "completed"
