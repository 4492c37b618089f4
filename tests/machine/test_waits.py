"""Steps that call nothing: they wait for a time, a moment or a signal, and never for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from saga.definition.spec import SagaSpec, WaitSpec
from saga.machine.commands import Cancel, Signal, Wake
from saga.machine.decide import Decision
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line


def signal(ride: Ride, wait: str, message: str = "m", payload: object = None) -> Decision:
    given = {"n": 1} if payload is None else payload
    command = Signal(at=ride.now, wait=wait, message=message, payload=given, actor="ada")
    return ride.tell(command)


def waiting(**given: object) -> SagaSpec:
    """A wait of another kind, and a step after it."""
    spec = line("naps", "keys")
    wait = replace(WaitSpec(time=None, until=None, signal=(), limit=None), **given)  # type: ignore[arg-type]
    return replace(spec, steps=(replace(spec.steps[0], wait=wait), spec.steps[1]))


def test_a_wait_begins_with_the_record_that_makes_it_due_and_calls_nothing() -> None:
    ride = Ride(line("naps", "keys"))
    assert ride.told == ["started", "intended", "wait_begun"]
    assert (ride.go(), ride.plan.due, ride.action("a").state) == ([], 2.0, "intended")
    ride.wait(2)
    ride.wake()
    assert ride.action("a").receipt == {"at": "1970-01-01T00:00:02+00:00"}
    ride.done("b")
    assert ride.phase == "completed"


def test_a_wait_for_a_moment_of_the_input_that_is_past_is_over_at_once() -> None:
    ride = Ride(waiting(until=("input", "n")))
    assert (ride.phase, ride.state.cause, ride.state.cause_step) == ("compensated", "refused", "a")
    assert ride.state.cause_error is not None
    assert ride.state.cause_error["text"] == "input.n is no time"


def test_a_signal_ends_its_wait_and_is_its_receipt() -> None:
    ride = Ride(line("signal", "keys"))
    signal(ride, "a")
    assert (ride.action("a").state, ride.action("a").receipt) == ("landed", {"n": 1})
    ride.done("b")
    assert ride.phase == "completed"


def test_one_that_comes_early_is_kept() -> None:
    ride = Ride(line("keys", "signal"))
    signal(ride, "b")
    ride.done("a")
    assert ride.phase == "completed"


def test_the_same_message_is_taken_once_and_another_one_is_too_late() -> None:
    ride = Ride(line("keys", "signal"))
    signal(ride, "b")
    assert refusal(signal(ride, "b")) == "nothing_new"
    assert refusal(signal(ride, "b", payload={"n": 2})) == "wrong_digest"
    assert refusal(signal(ride, "b", message="another")) == "not_possible"
    ride.done("a")
    assert refusal(signal(ride, "b")) == "nothing_new"  # redelivered after the end
    assert refusal(signal(ride, "b", message="another")) == "ended"


def test_only_a_wait_that_the_run_has_takes_a_signal() -> None:
    ride = Ride(line("keys", "naps", "signal"))
    for wait in ("a", "b", "none"):
        assert refusal(signal(ride, wait)) == "unknown_action"
    ride.tell(Cancel(at=0.0, reason="no more", actor=None))
    assert refusal(signal(ride, "c")) == "winding_down" if ride.phase != "compensated" else "ended"


def test_when_its_limit_passes_the_run_is_undone_for_its_deadline() -> None:
    ride = Ride(line("keys", "signal", "keys"))
    ride.done("a")
    assert ride.plan.due == 3.0
    ride.wait(3)
    ride.wake()
    assert (ride.state.cause, ride.state.cause_step) == ("deadline", "b")
    assert ride.state.cause_error is not None
    assert ride.state.cause_error["text"] == "no signal within 3 s"
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_an_optional_one_is_a_signal_or_a_time_whichever_comes_first() -> None:
    for brings in (True, False):
        ride = Ride(line("signal optional", "keys"))
        if brings:
            signal(ride, "a")
        else:
            ride.wait(3)
            ride.wake()
        assert ride.action("a").state == ("landed" if brings else "skipped")
        ride.done("b")
        assert ride.phase == "completed"


def test_a_cancel_does_not_wait_for_a_wait() -> None:
    ride = Ride(line("keys", "signal"))
    ride.done("a")
    ride.tell(Cancel(at=ride.now, reason="no more", actor=None))
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_the_deadline_of_the_run_ends_a_wait_without_a_limit() -> None:
    spec = replace(waiting(signal=(("n", True),)), deadline=5.0)
    ride = Ride(spec)
    assert ride.plan.due == 5.0
    ride.wait(5)
    ride.wake()
    assert (ride.phase, ride.state.cause) == ("compensated", "deadline")


@pytest.mark.parametrize("steps", [("keys pivot", "signal"), ("keys irreversible", "signal")])
def test_past_the_pivot_a_limit_goes_to_a_person_who_brings_it(steps: tuple[str, str]) -> None:
    ride = Ride(line(*steps))
    ride.done("a")
    ride.wait(3)
    ride.tell(Wake(at=ride.now))
    assert ride.cases == ["exhausted b"]
    ride.resolve("b", "landed", receipt={"n": 1})
    assert ride.phase == "completed"
