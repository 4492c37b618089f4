"""What winds a run down, and when: cancel, deadline, and the point of no return."""

from __future__ import annotations

from tests.machine.orders import order_for
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line, saga

# Cancel


def test_a_cancel_before_anything_landed_ends_the_run_compensated() -> None:
    ride = Ride(line("keys"))
    ride.cancel()
    assert (ride.phase, ride.state.cause) == ("compensated", "cancelled")


def test_a_cancel_winds_down_even_if_the_last_step_then_lands() -> None:
    ride = Ride(line("keys", "keys"))
    ride.done("a")
    ride.go()
    ride.cancel()
    ride.reply("b", "landed")
    ride.done("undo b", "undo a")
    assert ride.phase == "compensated"


def test_a_cancel_is_answered_by_where_the_run_stands() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.cancel()
    assert refusal(ride.cancel()) == "winding_down"
    ride.reply("a", "refused")
    assert refusal(ride.cancel()) == "ended"


def test_a_cancel_takes_effect_only_if_what_is_irreversible_did_not_land() -> None:
    for result, phase in (("landed", "completed"), ("refused", "compensating")):
        ride = Ride(line("keys", "keys irreversible"))
        ride.done("a")
        ride.go()
        ride.cancel()
        assert (ride.phase, ride.state.cancel) == ("running", "changed my mind")
        assert refusal(ride.cancel()) == "winding_down"
        ride.reply("b", result)
        assert ride.phase == phase


def test_past_an_irreversible_step_a_cancel_is_refused_and_says_why() -> None:
    ride = Ride(saga(["keys irreversible", "keys reads"], [[], [0]]))
    ride.done("a")
    ride.go()
    decision = ride.cancel()
    assert refusal(decision) == "point_of_no_return"
    assert "step a" in getattr(decision, "text", "")


def test_past_an_irreversible_step_nothing_turns_the_run_round() -> None:
    ride = Ride(saga(["keys irreversible", "keys once"], [[], [0]], 5.0))
    ride.go()
    ride.cancel()
    ride.wait(9)
    ride.reply("a", "landed")
    assert ride.go() == ["b"]
    ride.reply("b", "refused")
    assert (ride.phase, ride.cases) == ("running", ["exhausted b"])
    ride.resolve("b", "retry")
    ride.done("b")
    assert ride.phase == "completed"


def test_an_irreversible_effect_in_a_run_that_is_undone_is_put_before_a_person() -> None:
    ride = Ride(saga(["nothing", "keys irreversible"], [[], []]))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.resolve("a", "accept")
    ride.reply("b", "landed")
    assert (ride.phase, ride.cases) == ("compensating", ["late b"])
    ride.resolve("b", "accept")
    assert ride.phase == "settled"


# Deadline


def test_the_deadline_starts_nothing_new_and_waits_for_what_is_under_way() -> None:
    ride = Ride(saga(["keys query", "keys query"], [[], []], 3.0))
    ride.go()
    ride.wait(1)
    ride.reply("a", "not_sent", retry_after=5.0)
    ride.reply("b", "unknown")
    ride.wait(2)
    ride.wake()
    assert (ride.state.deadline_passed, ride.phase) == (True, "running")
    ride.probe("b", "absent")
    assert ride.go() == ["b"]  # it settles an unknown
    ride.reply("b", "landed")
    assert (ride.phase, ride.state.cause) == ("compensating", "deadline")


def test_a_run_whose_last_step_lands_is_completed_however_late() -> None:
    ride = Ride(line("keys", deadline=3.0))
    ride.go()
    ride.wait(50)
    ride.reply("a", "landed")
    assert ride.phase == "completed"


def test_a_deadline_that_passes_between_two_steps_turns_the_run_at_once() -> None:
    ride = Ride(line("keys", "keys", deadline=3.0))
    ride.go()
    ride.wait(4)
    ride.reply("a", "landed")
    assert (ride.phase, ride.state.cause, ride.go()) == ("compensating", "deadline", ["undo a"])


def test_an_order_that_comes_after_the_deadline_is_turned_down() -> None:
    ride = Ride(line("keys", "keys", deadline=3.0))
    ride.done("a")
    todo = ride.plan.todo[0]
    ride.wait(3)
    assert refusal(ride.tell(order_for(ride.state, todo, ride.now))) == "not_due"


def test_a_retry_that_was_asked_for_is_forgotten_when_the_run_turns_round() -> None:
    ride = Ride(saga(["nothing", "keys once irreversible"], [[], []]))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.reply("b", "unknown")
    ride.wait(9)
    ride.resolve("b", "retry")
    ride.resolve("a", "accept")
    assert (ride.phase, ride.go(), ride.cases) == ("compensating", [], ["unknown b"])
