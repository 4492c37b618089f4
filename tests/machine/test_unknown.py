"""The four windows and the way out of unknown (design, section 4)."""

from __future__ import annotations

import pytest

from tests.machine.ride import Ride, refusal, sent
from tests.machine.sagas import line


def test_intent_and_sending_are_one_record_and_the_undo_is_written_ahead() -> None:
    ride = Ride(line("keys query"))
    assert ride.go() == ["a"]
    assert ride.told[-2:] == ["intended", "sending"]
    action = ride.action("a")
    assert (action.undo, action.undo_key) == ("undo@1", "i/r/a/-@1/undo@1")
    assert action.open[1].send_by == 1.0


def test_an_unknown_action_is_asked_about_before_anything_else() -> None:
    ride = sent("keys query")
    assert (ride.action("a").state, ride.asks) == ("unknown", ["a"])
    ride.probe("a", "landed")
    assert ride.phase == "completed"


def test_what_is_in_progress_is_waited_for_and_not_sent_again() -> None:
    ride = sent("keys query thrice")
    ride.probe("a", "in_progress")
    ride.wait_until_due()
    assert (ride.go(), ride.asks) == ([], ["a"])


def test_inside_key_life_it_is_sent_again_under_the_same_key() -> None:
    ride = sent("keys query")
    key = ride.action("a").key
    ride.probe("a", "absent")
    ride.wait_until_due()
    assert ride.go() == ["a"]
    assert (ride.action("a").key, ride.action("a").attempts) == (key, 2)


def test_it_is_sent_again_only_if_it_arrives_while_the_key_surely_lives() -> None:
    """send_by + in_flight < first sending + key_life: 5 here, so the last moment is before 2."""
    for at, again in ((1.9, ["a"]), (2.0, [])):
        ride = Ride(line("keys query forgetful"))
        ride.go()
        ride.reply("a", "unknown")
        ride.probe("a", "absent")
        ride.wait(at)
        assert ride.go() == again, at


def test_late_until_counts_for_the_life_of_a_key_where_it_is_declared() -> None:
    ride = Ride(line("keys query forgetful late"))
    ride.go()
    ride.reply("a", "unknown")
    ride.probe("a", "absent")
    ride.wait(1)
    assert ride.go() == []


def test_undeclared_facts_halve_the_life_of_a_key() -> None:
    """With `nothing` declared but the key life of 8: send_by + 4 < 8, so sending before 3."""
    for at, again in ((2.9, ["a"]), (3.0, [])):
        ride = Ride(line("keys nothing"))
        ride.go()
        ride.reply("a", "unknown")
        ride.wait(at)
        assert ride.go() == again, at


def test_absence_is_believed_only_when_read_twice_and_late_enough() -> None:
    ride = sent("query")
    assert ride.asks == ["a"]
    ride.probe("a", "absent")  # at 1: a request may be under way until 3, and show at 4
    ride.wait_until_due()
    assert (ride.now, ride.asks) == (4.0, ["a"])
    ride.probe("a", "absent")
    assert (ride.action("a").state, ride.action("a").first_absent) == ("unknown", 4.0)
    ride.wait_until_due()
    assert (ride.now, ride.asks) == (5.0, ["a"])
    ride.probe("a", "absent")
    assert ride.action("a").state == "absent"


def test_a_reading_that_started_a_moment_too_early_does_not_count() -> None:
    ride = sent("query thrice")
    ride.wait(10)
    ride.probe("a", "absent", started=3.99)
    assert ride.action("a").first_absent is None


def test_in_progress_clears_the_first_reading_of_absence() -> None:
    ride = sent("query thrice")
    ride.wait(4)
    ride.probe("a", "absent")
    assert ride.action("a").first_absent == 5.0
    ride.wait(1)
    ride.probe("a", "in_progress")
    assert ride.action("a").first_absent is None


def test_undeclared_bounds_mean_that_absence_never_counts() -> None:
    ride = sent("query nothing")
    for _ in range(2):
        ride.wait(100)
        ride.probe("a", "absent")
    assert ride.cases == ["unknown a"]
    assert "in_flight" in ride.case("a").text


def test_an_answer_that_nobody_knows_says_nothing() -> None:
    """Law 12: what is missing or misspelt never means absent."""
    ride = sent("query")
    ride.wait(100)
    ride.probe("a", "gone")
    assert ride.action("a").last_answer == "cannot_say"


def test_the_life_of_a_key_counts_from_the_last_reading_of_absence() -> None:
    ride = sent("keys query forgetful")
    ride.wait(20)  # the key is too old to be sent again
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")
    assert (ride.action("a").state, ride.action("a").first_at) == ("absent", 21.0)
    assert ride.go() == ["a"]


def test_a_proof_of_absence_that_grew_too_old_is_read_again() -> None:
    ride = sent("keys query forgetful")
    ride.wait(20)
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")
    ride.wait(30)
    assert (ride.go(), ride.asks) == ([], ["a"])
    ride.probe("a", "absent")
    ride.wait_until_due()
    ride.probe("a", "absent")
    assert ride.go() == ["a"]


def test_a_provider_that_can_do_nothing_leaves_it_to_a_person() -> None:
    ride = sent("nothing")
    assert ride.cases == ["unknown a"]
    assert "probe=" in ride.case("a").text
    assert "IDEMPOTENT" in ride.case("a").text


@pytest.mark.parametrize(("provider", "settled"), [("keys", False), ("keys replays", True)])
def test_a_refusal_speaks_for_all_attempts_only_where_refusals_are_replayed(
    provider: str, *, settled: bool
) -> None:
    ride = sent(provider)
    ride.wait_until_due()
    assert ride.go() == ["a"]
    ride.reply("a", "refused")
    assert (ride.action("a").state == "refused") is settled


def test_not_sent_settles_only_its_own_attempt() -> None:
    ride = sent("keys")
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "not_sent")
    assert ride.action("a").state == "unknown"
    assert list(ride.action("a").open) == [1]


def test_an_action_has_not_landed_when_every_attempt_is_settled_so() -> None:
    ride = sent("keys")
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "refused")
    ride.report("a", result="not_sent", attempt=1)
    assert (ride.action("a").state, ride.phase) == ("refused", "compensated")


def test_a_key_that_is_taken_by_another_body_is_a_case_at_once() -> None:
    ride = Ride(line("keys query"))
    ride.go()
    ride.reply("a", "unknown", conflict=True)
    assert (ride.cases, ride.asks) == (["conflict a"], [])


def test_a_call_in_its_thread_keeps_absence_from_counting_until_it_returns() -> None:
    ride = Ride(line("query thrice"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    ride.wait(50)
    ride.probe("a", "absent")
    assert ride.action("a").first_absent is None
    ride.reply("a", "unknown", attempt=1)
    assert ride.action("a").last_until == 51.0


def test_a_thread_that_dies_with_its_process_counts_until_then() -> None:
    ride = Ride(line("query"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    ride.wait(6)
    ride.lose()
    assert (ride.action("a").running, ride.action("a").last_until) == (False, 7.0)


def test_a_lost_owner_leaves_its_calls_unknown() -> None:
    ride = Ride(line("keys query"))
    ride.go()
    ride.lose()
    assert (ride.action("a").state, ride.asks) == ("unknown", ["a"])
    assert refusal(ride.lose()) == "nothing_due"


def test_the_process_that_called_may_still_say_how_its_attempt_ended() -> None:
    """It was taken for dead, and another owner has the run."""
    for result in ("refused", "not_sent"):
        ride = Ride(line("query"))
        ride.go()
        ride.lose()
        assert refusal(ride.report("a", result="unknown", attempt=1)) == "nothing_new"
        ride.report("a", result=result, attempt=1)
        assert ride.action("a").state == result


def test_a_report_speaks_of_the_very_intent() -> None:
    ride = Ride(line("query"))
    ride.go()
    assert refusal(ride.report("a", digest="sha256:other")) == "wrong_digest"
    assert refusal(ride.report("a", digest="")) == "wrong_digest"


def test_attempts_end_in_a_case_and_not_in_an_endless_question() -> None:
    ride = sent("query")
    for _ in range(2):
        ride.wait_until_due()
        ride.probe("a", "cannot_say")
    assert ride.cases == ["unknown a"]
    assert ride.plan.due is None
