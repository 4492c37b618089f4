"""In which order a run is undone, and how an action is undone without a receipt."""

from __future__ import annotations

import pytest

from saga.machine.commands import Unfreezable
from tests.machine.ride import Ride
from tests.machine.sagas import line, saga

DIAMOND = [[], [0], [0], [1, 2]]


def test_a_refusal_undoes_what_landed_the_last_first() -> None:
    ride = Ride(line("keys", "keys", "keys"))
    ride.done("a", "b")
    ride.go()
    ride.reply("c", "refused")
    assert (ride.phase, ride.state.cause, ride.state.cause_step) == ("compensating", "refused", "c")
    ride.done("undo b", "undo a")
    assert ride.phase == "compensated"


def test_branches_are_undone_side_by_side_and_what_they_follow_after_both() -> None:
    ride = Ride(saga(["keys"] * 4, DIAMOND))
    ride.done("a")
    assert ride.go() == ["b", "c"]
    ride.reply("b", "landed")
    ride.reply("c", "landed")
    ride.go()
    ride.reply("d", "refused")
    assert ride.go() == ["undo c", "undo b"]
    ride.reply("undo c", "landed")
    assert ride.go() == []
    ride.reply("undo b", "landed")
    assert ride.go() == ["undo a"]


def test_no_undo_begins_while_a_later_step_is_unknown_but_other_branches_go_on() -> None:
    ride = Ride(saga(["query"] * 4, DIAMOND))
    ride.done("a")
    ride.go()
    ride.reply("b", "landed")
    ride.reply("c", "unknown")
    ride.cancel()
    assert ride.go() == ["undo b"]
    ride.reply("undo b", "landed")
    assert ride.go() == []
    ride.probe("c", "landed")
    assert ride.go() == ["undo c"]


def test_a_stuck_undo_holds_those_before_it() -> None:
    for special, freed in (("", []), (" passable", ["undo a"])):
        ride = Ride(line("keys", f"keys{special}", "keys"))
        ride.done("a", "b")
        ride.go()
        ride.reply("c", "refused")
        ride.go()
        ride.reply("undo b", "refused")
        assert ride.cases == ["undo_refused undo b"]
        assert ride.go() == freed


def test_an_undo_is_an_action_of_its_own() -> None:
    ride = Ride(line("keys hurry", "keys"))
    ride.done("a")
    ride.go()
    ride.wait(7)
    ride.reply("b", "refused")
    ride.go()
    undo = ride.action("undo a")
    assert (undo.key, undo.of_key) == (ride.action("a").undo_key, ride.action("a").key)
    assert (undo.attempts, undo.deadline_at) == (1, 10.0)


def test_an_undo_whose_next_attempt_would_miss_its_deadline_is_a_case_at_once() -> None:
    ride = Ride(line("keys hurry thrice", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.reply("undo a", "not_sent", retry_after=5.0)
    assert ride.cases == ["undo_exhausted undo a"]
    assert "deadline" in ride.case("undo a").text
    ride.resolve("undo a", "retry")
    assert ride.action("undo a").deadline_at == 3.0
    assert ride.go() == ["undo a"]


def test_arguments_of_an_undo_that_cannot_be_frozen_are_a_case() -> None:
    ride = Ride(line("keys", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    error = {"type": "too_large", "text": "too large", "leaves": []}
    ride.tell(Unfreezable(at=0.0, step=0, of_key=ride.action("a").key, generation=1, error=error))
    assert ride.cases == ["undo_refused undo a"]


# Undo without a receipt


def unknown_in_a_cancelled_run(words: str) -> Ride:
    ride = Ride(line(words))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.cancel()
    return ride


def test_what_can_neither_be_asked_nor_repeated_is_undone_without_a_receipt() -> None:
    ride = unknown_in_a_cancelled_run("query blind")
    for _ in range(2):
        ride.wait_until_due()
        ride.probe("a", "cannot_say")
    assert (ride.phase, ride.cases, ride.go()) == ("compensating", [], ["undo a"])
    ride.reply("undo a", "landed")
    assert (ride.phase, ride.action("a").state, ride.action("a").undone) == (
        "compensated",
        "absent",
        True,
    )


def test_it_waits_until_the_request_can_not_be_under_way_any_more() -> None:
    ride = unknown_in_a_cancelled_run("keys blind once")
    assert ride.plan.due == 3.0  # send_by 1 + in_flight 2
    assert ride.go() == []
    ride.wait(2)
    assert ride.go() == ["undo a"]


def test_it_waits_for_a_call_that_is_still_in_its_thread() -> None:
    ride = Ride(line("keys blind once"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    ride.cancel()
    ride.wait(20)
    assert (ride.go(), ride.cases) == ([], [])
    ride.reply("a", "unknown", attempt=1)
    ride.wait(2)
    assert ride.go() == ["undo a"]


def test_where_nothing_bounds_the_request_it_is_a_person_who_decides() -> None:
    assert unknown_in_a_cancelled_run("nothing blind").cases == ["unknown a"]


def test_an_undo_that_needs_the_receipt_is_never_called_without() -> None:
    ride = unknown_in_a_cancelled_run("keys once")
    assert (ride.cases, ride.go()) == (["unknown a"], [])


def test_a_case_of_the_running_run_is_moot_once_it_can_be_undone_without_a_receipt() -> None:
    ride = Ride(line("keys blind once"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    assert ride.cases == ["unknown a"]
    ride.cancel()
    assert ride.cases == []
    ride.wait(2)
    assert ride.go() == ["undo a"]


@pytest.mark.parametrize("undo", ["in flight", "landed"])
def test_a_forward_effect_that_is_found_after_its_undo_is_a_case(undo: str) -> None:
    ride = unknown_in_a_cancelled_run("keys blind once")
    ride.wait(2)
    ride.go()
    if undo == "landed":
        ride.reply("undo a", "landed")
    ride.report("a")
    assert ride.cases == ["late a"]
    assert ride.action("a").others == ["a done"]


def test_what_a_person_says_of_such_an_undo_settles_the_action_too() -> None:
    for verdict, outcome in (("undone", "compensated"), ("accept", "settled")):
        ride = unknown_in_a_cancelled_run("keys blind once")
        ride.wait(2)
        ride.go()
        ride.reply("undo a", "refused")
        ride.resolve("undo a", verdict, evidence="I did it")
        assert (ride.phase, ride.cases) == (outcome, [])
