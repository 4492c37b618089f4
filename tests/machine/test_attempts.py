"""Attempts are counted by what became of them, each class apart, and the last reason is kept."""

from __future__ import annotations

from dataclasses import replace

from saga.definition.spec import SagaSpec
from saga.machine.commands import Lost, Reply
from tests.machine.ride import ERROR, Ride
from tests.machine.sagas import line


def tuned(words: str, **given: object) -> SagaSpec:
    """One step with its effect's retry policy changed."""
    spec = line(words)
    step = spec.steps[0]
    effect = replace(step.effect, retry=replace(step.effect.retry, **given))  # type: ignore[arg-type]
    return replace(spec, steps=(replace(step, effect=effect),))


def crash(ride: Ride) -> None:
    """Its owner dies under the call, and the next one comes."""
    ride.tell(Lost(at=ride.now))
    ride.wait_until_due()


def test_a_call_that_died_with_its_process_uses_up_no_resend() -> None:
    ride = Ride(tuned("keys", resends=0, crashes=3))
    assert ride.go() == ["a"]
    for _ in range(2):
        crash(ride)
        assert ride.go() == ["a"]
    assert (ride.action("a").resends, ride.action("a").crashes) == (0, 2)
    ride.tell(Lost(at=ride.now))
    assert ride.cases == ["crashed a"]
    assert "killed its worker 3 times" in ride.case("a").text


def test_an_answer_ends_the_row_of_crashes() -> None:
    ride = Ride(tuned("keys", resends=5, attempts=6, crashes=2))
    ride.go()
    crash(ride)
    ride.go()
    ride.reply("a", "unknown")
    assert ride.action("a").crashes == 0
    ride.wait_until_due()
    ride.go()
    crash(ride)
    assert (ride.cases, ride.go()) == ([], ["a"])


def test_what_a_shutdown_cut_off_is_no_failure_and_no_crash() -> None:
    ride = Ride(tuned("keys", resends=0, crashes=1))
    for number in range(1, 4):
        assert ride.go() == ["a"]
        reply = Reply(
            at=ride.now,
            key=ride.action("a").key,
            attempt=number,
            result="unknown",
            error=ERROR,
            interrupted=True,
        )
        ride.tell(reply)
        ride.wait_until_due()
    assert (ride.cases, ride.action("a").crashes, ride.action("a").resends) == ([], 0, 0)


def test_a_person_who_knows_better_starts_the_count_anew() -> None:
    ride = Ride(tuned("keys", crashes=1))
    ride.go()
    ride.tell(Lost(at=ride.now))
    assert ride.cases == ["crashed a"]
    ride.wait(5)
    ride.resolve("a", "retry")
    assert ride.go() == ["a"]
    ride.reply("a", "landed")
    assert ride.phase == "completed"


def test_an_absent_action_is_not_sent_again_either_once_it_kills() -> None:
    ride = Ride(tuned("keys query", crashes=1))
    ride.go()
    ride.tell(Lost(at=ride.now))
    for _ in range(2):
        ride.wait(4)
        ride.probe("a", "absent")
    assert (ride.action("a").state, ride.cases) == ("absent", ["crashed a"])


def test_each_class_of_outcome_has_its_own_bound() -> None:
    ride = Ride(tuned("keys query", attempts=2, probes=1, resends=3))
    ride.go()
    for number in range(2, 5):
        ride.reply("a", "unknown")
        ride.probe("a", "cannot_say")  # the only one that is allowed between two sendings
        ride.wait_until_due()
        assert ride.go() == ["a"]
        assert ride.action("a").attempts == number
    ride.reply("a", "unknown")
    ride.wait(5)
    ride.probe("a", "cannot_say")
    assert ride.cases == ["unknown a"]


def test_an_effect_is_not_sent_again_after_its_own_deadline() -> None:
    spec = line("keys thrice")
    effect = replace(spec.steps[0].effect, deadline=1.5)
    ride = Ride(replace(spec, steps=(replace(spec.steps[0], effect=effect),)))
    ride.go()
    ride.reply("a", "not_sent")
    ride.wait_until_due()
    assert ride.go() == ["a"]
    ride.reply("a", "not_sent")
    assert (ride.phase, ride.state.cause) == ("compensated", "attempts")
    assert ride.state.cause_reason == "its deadline has passed"


def test_the_reason_for_stopping_is_kept_with_the_cause() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.reply("a", "not_sent")
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "not_sent")
    assert (ride.state.cause, ride.state.cause_reason) == ("attempts", "2 attempts are used up")
