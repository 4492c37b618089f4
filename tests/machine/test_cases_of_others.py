"""Faults that other products had, as the machine decides them (C numbers: shared list of cases).

The end-to-end versions, with real processes and a ledger, stand in `tests/cases`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from saga.definition.spec import RetrySpec, SagaSpec
from tests.machine.ride import Ride
from tests.machine.sagas import line, saga


def with_attempts(spec: SagaSpec, *, forward: int, undo: int) -> SagaSpec:
    def retry(attempts: int) -> RetrySpec:
        return RetrySpec(attempts=attempts, first=1.0, factor=1.0, longest=1.0, jitter=0.0)

    steps = []
    for step in spec.steps:
        assert step.compensation is not None
        effect = replace(step.effect, retry=retry(forward))
        compensation = replace(step.compensation, retry=retry(undo))
        steps.append(replace(step, effect=effect, compensation=compensation))
    return replace(spec, steps=tuple(steps))


def test_an_unknown_outcome_that_can_be_asked_about_is_found_and_taken_as_done() -> None:
    """C006, variant A: dtm-labs/dtm#272, btravstack/temporal-contract#413."""
    ride = Ride(line("query"))
    ride.go()
    ride.reply("a", "unknown")
    ride.probe("a", "landed")
    assert ride.phase == "completed"


def test_an_unknown_outcome_that_cannot_be_asked_about_is_a_case_and_no_new_key() -> None:
    """C006, variant B."""
    ride = Ride(line("nothing"))
    ride.go()
    ride.reply("a", "unknown")
    ride.cancel()
    assert (ride.phase, ride.cases) == ("compensating", ["unknown a"])
    assert list(ride.state.actions) == ["i/r/a/-@1"]


def test_an_action_that_may_have_happened_is_settled_before_the_run_is_undone() -> None:
    """C007: temporalio/skill-temporal-developer#43."""
    ride = Ride(line("keys query"))
    ride.go()
    ride.lose()
    ride.cancel()
    assert (ride.phase, ride.asks) == ("compensating", ["a"])
    ride.probe("a", "landed")
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_forward_and_undo_attempts_have_separate_counters() -> None:
    """C011: MassTransit/MassTransit#4676."""
    ride = Ride(with_attempts(line("keys", "keys"), forward=5, undo=4))
    ride.done("a")
    for _ in range(5):
        ride.wait_until_due()
        assert ride.go() == ["b"]
        ride.reply("b", "not_sent")
    assert (ride.phase, ride.state.cause) == ("compensating", "attempts")
    for _ in range(3):
        ride.wait_until_due()
        assert ride.go() == ["undo a"]
        ride.reply("undo a", "not_sent")
    ride.wait_until_due()
    ride.done("undo a")
    assert (ride.phase, ride.cases) == ("compensated", [])
    assert (ride.action("b").attempts, ride.action("undo a").attempts) == (5, 4)


def test_a_hopeless_undo_stops_at_its_limit_and_is_handed_over_once() -> None:
    """C012: apache/incubator-seata#5077. A restart between the attempts does not count anew."""
    ride = Ride(with_attempts(line("keys", "keys", "keys"), forward=2, undo=3))
    ride.done("a", "b")
    ride.go()
    ride.reply("c", "refused")
    for _ in range(3):
        ride.wait_until_due()
        ride.lose()  # nothing is in flight
        assert ride.go() == ["undo b"]
        ride.reply("undo b", "not_sent", error={"type": "Down", "text": "no", "leaves": []})
    assert ride.cases == ["undo_exhausted undo b"]
    assert ride.case("undo b").error == {"type": "Down", "text": "no", "leaves": []}
    ride.wait(10_000)
    ride.wake()
    assert (ride.go(), ride.cases) == ([], ["undo_exhausted undo b"])


def test_giving_up_twice_does_not_make_two_open_cases() -> None:
    """C016: mafintosh/sqs#41, icastanon/fintrack-platform#7."""
    ride = Ride(with_attempts(line("keys", "keys"), forward=2, undo=2))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    for _ in range(4):
        for _ in range(2):
            ride.wait_until_due()
            ride.go()
            ride.reply("undo a", "not_sent")
        assert ride.cases == ["undo_exhausted undo a"]
        ride.resolve("undo a", "retry")
    assert ride.action("undo a").attempts == 8


def test_the_first_cause_survives_the_clean_up() -> None:
    """C013: apache/incubator-seata#2839, conductor-oss/conductor#513."""
    declined = {"type": "CardDeclined", "text": "51", "leaves": []}
    ride = Ride(with_attempts(line("keys", "keys", "keys"), forward=2, undo=3))
    ride.done("a", "b")
    ride.go()
    ride.reply("c", "refused", error=declined)
    for _ in range(2):
        ride.wait_until_due()
        ride.go()
        ride.reply("undo b", "not_sent")
    ride.wait_until_due()
    ride.done("undo b", "undo a")
    state = ride.state
    assert (state.cause, state.cause_step, state.cause_error) == ("refused", "c", declined)
    assert ride.action("undo b").error is None


def test_a_cancel_works_while_a_step_waits_for_its_next_attempt() -> None:
    """C018: restatedev/restate#3656."""
    ride = Ride(line("keys", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "not_sent", retry_after=600.0)
    ride.cancel()
    assert ride.go() == ["undo a"]
    assert ride.action("b").attempts == 1


@pytest.mark.parametrize(
    ("result", "undone"),
    [("landed", ["undo c", "undo b", "undo a"]), ("refused", ["undo b", "undo a"])],
)
def test_a_cancel_while_the_last_step_is_in_flight_undoes_what_it_did(
    result: str, undone: list[str]
) -> None:
    """C019: simplesourcing/simplesagas#26."""
    ride = Ride(line("keys", "keys", "keys"))
    ride.done("a", "b")
    ride.go()
    ride.cancel()
    ride.reply("c", result)
    ride.done(*undone)
    assert (ride.phase, ride.state.cause) == ("compensated", "cancelled")


def test_a_branch_in_flight_is_waited_for_when_another_fails() -> None:
    """C023: kestra-io/kestra#19114, zigflow/zigflow#591."""
    ride = Ride(saga(["keys", "keys"], [[], []]))
    ride.go()
    ride.reply("a", "refused")
    assert (ride.phase, ride.action("b").state, ride.go()) == ("compensating", "sending", [])
    ride.reply("b", "landed")
    ride.done("undo b")
    assert ride.phase == "compensated"


def test_a_step_that_finishes_after_its_time_and_its_undo_is_a_case() -> None:
    """C031: apache/servicecomb-pack#346, apache/servicecomb-pack#173."""
    ride = Ride(line("keys blind once"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.cancel()
    ride.wait(2)
    ride.done("undo a")
    ride.wait(1)
    ride.report("a")
    assert (ride.phase, ride.cases) == ("compensated", ["late a"])
    assert "receipt" in ride.case("a").text


def test_two_attempts_at_once_have_one_key_and_one_way_forward() -> None:
    """C032: hatchet-dev/hatchet#1022, dust-tt/dust#5045."""
    ride = Ride(line("keys", "keys"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    ride.wait_until_due()
    assert ride.go() == ["a"]
    ride.reply("a", "landed", attempt=2)
    assert ride.go() == ["b"]
    ride.reply("a", "landed", attempt=1)
    assert (ride.go(), ride.action("b").attempts, ride.cases) == ([], 1, [])


def test_the_loser_with_another_receipt_is_not_dropped() -> None:
    """C032, at a provider that did not keep its promise."""
    ride = Ride(line("keys", "keys"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "landed", attempt=2)
    ride.reply("a", "landed", attempt=1, receipt="R1")
    assert (ride.cases, ride.action("a").receipt) == (["late a"], "a done")


@pytest.mark.parametrize("when", ["before the next attempt", "between steps", "in an attempt"])
def test_running_out_of_time_has_one_reason_wherever_it_happens(when: str) -> None:
    """C033: temporalio/temporal#3667, Netflix/conductor#2247."""
    ride = Ride(line("keys", "keys", deadline=5.0))
    if when == "between steps":
        ride.go()
        ride.wait(6)
        ride.reply("a", "landed")
    else:
        ride.done("a")
        ride.go()
        if when == "before the next attempt":
            ride.reply("b", "not_sent", retry_after=60.0)
            ride.wait_until_due()
            assert ride.now == 5.0
            ride.wake()
        else:
            ride.wait(6)
            ride.reply("b", "not_sent")
        assert ride.state.cause_error is not None
    assert (ride.phase, ride.state.cause) == ("compensating", "deadline")
    assert ride.go() == ["undo a"]
