"""Alternatives and savepoints, driven by hand where the walks say too little."""

from __future__ import annotations

from saga.machine.commands import Cancel, Rejected, Rejection, Signal
from saga.machine.decide import decide
from tests.machine.ride import Ride
from tests.machine.sagas import line, saga


def test_an_irreversible_alternative_makes_its_step_the_point_of_no_return() -> None:
    ride = Ride(line("keys else final", "keys reads"))
    ride.go()
    ride.reply("a", "refused")
    ride.go()
    ride.reply("a", "landed")
    assert ride.state.past_pivot
    answer = decide(ride.spec, ride.state, Cancel(at=ride.now, reason="late", actor=None))
    assert isinstance(answer, Rejected)
    assert answer.reason is Rejection.POINT_OF_NO_RETURN
    assert answer.text.startswith("step a has happened")


def test_two_savepoints_go_back_each_for_itself() -> None:
    """One is still undoing when the other takes its way: nothing of the first counts."""
    ride = Ride(
        saga(
            ["keys first", "keys first", "keys other", "keys inner", "keys outer"],
            [[], [0], [], [], []],
        )
    )
    ride.go()
    ride.reply("a", "landed")
    ride.go()
    ride.reply("b", "refused")
    assert ride.state.savepoints == {"p": "undoing"}
    ride.reply("d", "refused")
    assert ride.state.savepoints == {"p": "undoing", "q": "instead"}
    assert ride.state.done == 0
    ride.go()
    ride.reply("e", "landed")
    assert (ride.state.phase, ride.state.done) == ("running", 1)


def test_a_signal_is_kept_for_a_wait_on_the_way_that_may_still_be_taken() -> None:
    ride = Ride(saga(["keys first", "signal other"], [[], []]))
    signal = Signal(at=ride.now, wait="b", message="m", payload={"n": 1}, actor=None)
    ride.tell(signal)
    ride.go()
    ride.reply("a", "refused")
    assert ride.state.outcome == "completed"
