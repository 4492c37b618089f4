"""Of an ended run every effect is accounted for, line by line."""

from __future__ import annotations

from dataclasses import replace

from saga.machine.commands import Cancel
from saga.machine.settlement import Line, settlement
from tests.machine.ride import Ride
from tests.machine.sagas import line


def told(ride: Ride) -> list[tuple[str, str]]:
    """Step (with its generation) and fate of each line."""
    lines = settlement(ride.spec, ride.state)
    return [(f"{one.step}~{one.generation}", one.fate) for one in lines]


def the(ride: Ride, step: str) -> Line:
    found = [one for one in settlement(ride.spec, ride.state) if one.step == step]
    assert len(found) == 1
    return found[0]


def undo_refused() -> Ride:
    """The second step was refused, and so was the undo of the first: a person has the word."""
    ride = Ride(line("keys", "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.reply("undo a", "refused")
    return ride


def vouched_for() -> Ride:
    """The first of two steps was unknown; a person has brought its receipt."""
    ride = Ride(line("nothing", "nothing"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.resolve("a", "landed", receipt="seen in their ledger")
    return ride


def test_what_landed_was_undone_or_never_happened_is_said_apart() -> None:
    ride = Ride(line("keys", "keys reads", "keys", "keys"))
    ride.done("a")
    ride.done("b")
    ride.go()
    ride.reply("c", "refused")
    ride.done("undo a")
    assert ride.phase == "compensated"
    fates = [fate for _, fate in told(ride)]
    assert fates == ["undone", "landed", "never", "never"]
    undone = the(ride, "a")
    assert (undone.receipt, undone.undo_receipt) == ("a done", "undo a done")
    assert undone.undo_key == ride.action("undo a").key


def test_what_an_undo_cannot_give_back_is_named_with_its_amount() -> None:
    spec = line("keys", "keys")
    first = spec.steps[0]
    assert first.compensation is not None
    keeps = replace(first, compensation=replace(first.compensation, residual="fee"))
    ride = Ride(replace(spec, steps=(keeps, spec.steps[1])))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.reply("undo a", "landed", receipt={"refund_id": "r1", "fee": "0.30"})
    assert (ride.phase, the(ride, "a").residual) == ("compensated", "0.30")


def test_what_a_person_accepted_bears_the_name_and_the_reason() -> None:
    ride = undo_refused()
    ride.resolve("undo a", "accept")
    accepted = the(ride, "a")
    assert ride.phase == "settled"
    assert (accepted.fate, accepted.by, accepted.reason) == ("accepted", "ada", "I looked")
    assert accepted.receipt == "a done"


def test_what_a_person_took_back_is_undone_on_that_evidence() -> None:
    ride = Ride(line("nothing"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.resolve("a", "undone", evidence="ticket 4711")
    taken = the(ride, "a")
    assert ride.phase == "compensated"
    assert (taken.fate, taken.by) == ("undone", "ada")
    assert taken.undo_receipt == {"evidence": "ticket 4711"}


def test_what_a_person_vouches_for_bears_the_name() -> None:
    ride = vouched_for()
    ride.done("b")
    assert ride.phase == "completed"
    assert (the(ride, "a").fate, the(ride, "a").by) == ("landed", "ada")
    assert (the(ride, "b").fate, the(ride, "b").by) == ("landed", None)


def test_what_was_vouched_for_and_then_undone_bears_the_name_too() -> None:
    ride = vouched_for()
    ride.go()
    ride.reply("b", "refused")
    ride.done("undo a")
    assert (the(ride, "a").fate, the(ride, "a").by) == ("undone", "ada")


def test_what_a_person_only_had_sent_again_rests_on_its_own_receipt() -> None:
    ride = undo_refused()
    ride.resolve("undo a", "retry")
    ride.done("undo a")
    assert ride.phase == "compensated"
    assert (the(ride, "a").fate, the(ride, "a").by) == ("undone", None)


def test_each_generation_and_each_second_effect_has_its_own_line() -> None:
    ride = Ride(line("keys lives"))
    ride.go()
    ride.reply("a", "refused")
    ride.wait_until_due()
    ride.done("a")
    assert (ride.phase, told(ride)) == ("completed", [("a~1", "never"), ("a~2", "landed")])
    ride.report("a", receipt="another")
    assert told(ride)[2] == ("a~2", "open")
    ride.resolve("a", "accept")
    assert told(ride)[2] == ("a~2", "accepted")


def test_what_landed_late_is_open_until_it_is_undone() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.tell(Cancel(at=ride.now, reason="no more", actor=None))
    ride.reply("a", "refused")
    ride.report("a")
    assert told(ride) == [("a~1", "open")]
    ride.done("undo a")
    assert told(ride) == [("a~1", "undone")]
