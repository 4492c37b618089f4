"""Without its turn nothing of an exclusive run goes forward; everything else does."""

from __future__ import annotations

from dataclasses import replace

from saga.definition.spec import SagaSpec
from saga.machine.commands import Intend, Park, Send, Signal, TakeTurn
from saga.machine.state import new_state
from tests.machine.orders import START
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line, saga


class Exclusive(Ride):
    """A run about a resource, started while somebody has the turn, or nobody."""

    def __init__(self, spec: SagaSpec, *, free: bool = False) -> None:
        self.spec, self.state = spec, new_state(spec)
        self.now, self.told = 0.0, []
        self.tell(replace(START, resource="o", free=free))

    def take(self) -> str:
        return refusal(self.tell(TakeTurn(at=self.now)))

    def park(self) -> str:
        return refusal(self.tell(Park(at=self.now, reason="later", actor="ada")))

    def stuck(self) -> Exclusive:
        """The first action is unknown for good: a case."""
        assert self.go()[0] == "a"
        self.wait(1)
        self.reply("a", "unknown")
        self.wait(9)
        self.wake()
        assert self.cases == ["unknown a"]
        return self


def test_it_waits_for_its_turn_and_nothing_is_due() -> None:
    ride = Exclusive(line("keys", "keys"))
    assert (ride.told, ride.state.turn) == (["started"], "waits")
    assert (ride.plan.todo, ride.plan.due) == ((), None)
    begin = Intend(
        at=0.0, fence=1, step=0, of_key=None, generation=1, target="-", digest="", args=None,
        threaded=False,
    )  # fmt: skip
    assert refusal(ride.tell(begin)) == "not_due"
    assert ride.take() == ""
    assert ride.take() == "not_due"
    ride.done("a", "b")
    assert (ride.phase, ride.state.turn) == ("completed", None)


def test_where_nobody_has_it_the_turn_comes_with_the_start() -> None:
    ride = Exclusive(line("keys"), free=True)
    assert (ride.told, ride.state.turn) == (["started", "turn_taken"], "holds")


def test_who_is_exclusive_about_nothing_needs_no_turn() -> None:
    ride = Ride(line("keys"))
    assert (ride.state.turn, ride.state.lacks_turn) == (None, False)
    assert refusal(ride.tell(TakeTurn(at=0.0))) == "not_due"
    assert refusal(ride.tell(Park(at=0.0, reason="", actor=None))) == "not_possible"


def test_waits_do_not_begin_without_it_either() -> None:
    ride = Exclusive(line("naps", "keys"))
    assert ride.told == ["started"]
    ride.take()
    assert ride.told[-2:] == ["intended", "wait_begun"]


def test_a_signal_that_comes_before_the_turn_is_kept() -> None:
    ride = Exclusive(line("signal"))
    ride.tell(Signal(at=0.0, wait="a", message="m", payload={"n": 1}, actor=None))
    assert ride.phase == "running"
    ride.take()
    assert ride.phase == "completed"


def test_a_run_that_waits_ends_at_once_when_it_is_cancelled_or_out_of_time() -> None:
    ride = Exclusive(line("keys"))
    ride.cancel()
    assert (ride.phase, ride.state.turn) == ("compensated", None)
    ride = Exclusive(line("keys", deadline=5.0))
    assert ride.plan.due == 5.0
    ride.wait(5)
    ride.wake()
    assert (ride.phase, ride.state.cause) == ("compensated", "deadline")


def test_a_run_that_winds_down_keeps_its_turn_until_it_has_ended() -> None:
    ride = Exclusive(line("keys", "keys"), free=True)
    ride.done("a")
    ride.cancel()
    assert (ride.phase, ride.state.turn) == ("compensating", "holds")
    ride.done("undo a")
    assert (ride.phase, ride.state.turn) == ("compensated", None)


def test_it_is_parked_only_with_the_turn_an_open_case_and_nothing_in_flight() -> None:
    ride = Exclusive(saga(["nothing", "keys"], [[], []]), free=True)
    assert ride.park() == "not_possible"
    ride.stuck()
    assert ride.action("b").state == "sending"
    assert ride.park() == "not_possible"
    ride.reply("b", "not_sent")
    assert (ride.park(), ride.state.turn) == ("", "parked")
    assert ride.park() == "nothing_new"


def test_what_is_parked_sends_nothing_forward_not_even_again() -> None:
    ride = Exclusive(saga(["nothing", "keys"], [[], []]), free=True).stuck()
    ride.reply("b", "not_sent")
    ride.park()
    ride.wait(5)
    assert ride.plan.todo == ()
    assert refusal(ride.tell(Send(at=ride.now, fence=1, key=ride.action("b").key, threaded=False)))
    ride.resolve("a", "landed", receipt="a done")
    assert (ride.told[-1], ride.state.turn) == ("turn_asked", "waits")
    assert ride.plan.todo == ()
    ride.take()
    ride.done("b")
    assert ride.phase == "completed"


def test_what_settles_the_last_step_ends_it_without_another_turn() -> None:
    ride = Exclusive(line("nothing"), free=True).stuck()
    ride.park()
    ride.resolve("a", "landed", receipt="a done")
    assert ride.phase == "completed"
    assert "turn_asked" not in ride.told


def test_what_is_parked_is_undone_without_a_turn() -> None:
    ride = Exclusive(line("keys", "nothing"), free=True)
    ride.done("a")
    ride.go()
    ride.wait(1)
    ride.reply("b", "unknown")
    ride.wait(9)
    ride.wake()
    ride.park()
    ride.cancel()
    assert (ride.phase, ride.state.turn) == ("compensating", None)
    ride.wait(60)
    ride.resolve("b", "absent")
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_one_that_winds_down_and_is_stuck_gives_its_turn_away_for_good() -> None:
    ride = Exclusive(line("keys", "keys"), free=True)
    ride.done("a")
    ride.cancel()
    ride.go()
    ride.reply("undo a", "refused")
    assert ride.cases == ["undo_refused undo a"]
    assert (ride.park(), ride.state.turn) == ("", None)
    assert ride.park() == "not_possible"
