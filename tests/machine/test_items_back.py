"""The items of an `Each` being undone: which first, how many at once, and what each one came to."""

from __future__ import annotations

from saga.machine.commands import Reply, Report
from saga.machine.settlement import Line, settlement
from tests.machine.list_ride import ListRide, listing


def lines(ride: ListRide) -> list[Line]:
    return list(settlement(ride.spec, ride.state))


def fates(ride: ListRide) -> dict[str, str]:
    return {line.item or line.step: line.fate for line in lines(ride)}


def landed(ride: ListRide, count: int, name: str = "a") -> None:
    """The next items of a step land, so many of them."""
    first = ride.state.progress[ride.spec.step(name).index].done
    for number in range(first, first + count):
        ride.go()
        ride.reply(f"{name}#{number}", "landed")


def test_the_last_ones_are_undone_first_so_many_at_once_as_went_forward() -> None:
    ride = ListRide(listing("keys each", "keys", parallel=3), ["x"] * 8)
    landed(ride, 8)
    ride.go()
    ride.reply("b", "refused")
    flying = ride.go()
    order = list(flying)
    assert flying == ["undo a#7", "undo a#6", "undo a#5"]
    while flying:
        ride.reply(flying.pop(0), "landed")
        began = ride.go()
        assert len(began) <= 1
        flying += began
        order += began
    assert order == [f"undo a#{number}" for number in reversed(range(8))]
    assert ride.phase == "compensated"


def test_a_cancel_in_the_middle_undoes_exactly_what_has_landed() -> None:
    ride = ListRide(listing("keys each", parallel=2), ["x"] * 6)
    landed(ride, 2)
    assert ride.go() == ["a#3"]  # the third is under way already
    ride.cancel()
    assert ride.go() == ["undo a#1", "undo a#0"]
    ride.reply("a#2", "landed")
    ride.reply("a#3", "refused")
    ride.reply("undo a#1", "landed")
    assert ride.go() == ["undo a#2"]
    ride.reply("undo a#0", "landed")
    assert ride.phase == "compensating"
    ride.reply("undo a#2", "landed")
    assert ride.phase == "compensated"
    assert fates(ride) == {
        "0": "undone",
        "1": "undone",
        "2": "undone",
        "3": "never",
        "4": "never",
        "5": "never",
    }
    untried = [line for line in lines(ride) if line.item in ("4", "5")]
    assert [(line.step, line.key) for line in untried] == [("a", None)] * 2
    assert len(ride.state.actions) == 4 + 3


def test_a_refused_item_turns_the_run_and_the_others_settle_first() -> None:
    ride = ListRide(listing("keys", "keys each", parallel=3), ["x"] * 3)
    ride.done("a")
    ride.go()
    ride.reply("b#0", "landed")
    ride.reply("b#1", "refused")
    assert (ride.state.cause, ride.state.cause_step) == ("refused", "b")
    ride.done("undo b#0")
    assert ride.go() == []  # the third is still under way: a waits
    ride.wait(1)
    ride.reply("b#2", "unknown")
    ride.wait(1)
    assert ride.go() == ["b#2"]
    ride.reply("b#2", "landed")
    ride.done("undo b#2")
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_undos_of_one_list_do_not_wait_for_each_other_and_what_is_before_it_waits_for_all() -> None:
    ride = ListRide(listing("keys", "keys each", "keys", parallel=2), ["x"] * 3)
    ride.done("a")
    landed(ride, 3, "b")
    ride.go()
    ride.reply("c", "refused")
    assert ride.go() == ["undo b#2", "undo b#1"]
    ride.reply("undo b#2", "refused")
    assert ride.cases == ["undo_refused undo b#2"]
    assert ride.go() == ["undo b#0"]  # one that waits for a person takes up no place
    ride.reply("undo b#0", "landed")
    ride.reply("undo b#1", "landed")
    assert ride.go() == []
    ride.resolve("undo b#2", "undone", evidence="by hand")
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_a_stuck_undo_of_an_item_is_passed_where_the_step_says_so() -> None:
    ride = ListRide(listing("keys", "keys each passable", "keys", parallel=2), ["x"] * 2)
    ride.done("a")
    landed(ride, 2, "b")
    ride.go()
    ride.reply("c", "refused")
    ride.go()
    ride.reply("undo b#1", "refused")
    ride.reply("undo b#0", "landed")
    ride.done("undo a")
    assert (ride.phase, ride.cases) == ("compensating", ["undo_refused undo b#1"])
    ride.resolve("undo b#1", "accept")
    assert (ride.phase, fates(ride)["1"]) == ("settled", "accepted")


def test_what_landed_late_of_one_item_is_undone_alone_while_the_others_go_on() -> None:
    ride = ListRide(listing("query late each lone", parallel=1), ["x"] * 3)
    ride.go()
    first = ride.action("a#0")
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.wait(3)
    ride.probe("a#0", "absent")
    ride.wait(1)
    ride.probe("a#0", "absent")
    assert "a#0" in ride.go()
    assert ride.action("a#0").generation == 2
    late = Report(at=ride.now, key=first.key, digest=first.digest, attempt=1, receipt="late")
    ride.tell(late)
    assert first.late
    assert ride.go() == [f"undo {ride.name(first.key)}"]
    undo = ride.state.undo_of(first)
    assert undo is not None
    assert (undo.item, undo.of_key) == ("0", first.key)
    ride.tell(Reply(at=ride.now, key=undo.key, attempt=1, result="landed", receipt="taken back"))
    landed(ride, 3)
    assert ride.phase == "completed"
    told = [(line.item, line.generation, line.fate) for line in lines(ride)]
    assert told == [
        ("0", 1, "undone"),
        ("0", 2, "landed"),
        ("1", 1, "landed"),
        ("2", 1, "landed"),
    ]


def test_each_undo_is_of_its_own_item_under_a_key_of_its_own() -> None:
    ride = ListRide(listing("keys each", parallel=3), ["x"] * 3)
    ride.go()
    for number in (2, 0, 1):
        ride.reply(f"a#{number}", "landed", receipt=f"receipt {number}")
        if number == 0:
            ride.cancel()
    while flying := ride.go():
        for name in flying:
            ride.reply(name, "landed", receipt=f"{name} done")
    undos = [one for one in ride.state.actions.values() if one.direction == "undo"]
    assert {one.key for one in undos} == {ride.action(f"a#{n}").undo_key for n in range(3)}
    for line in lines(ride):
        assert line.receipt == f"receipt {line.item}"
        assert line.undo_receipt == f"undo a#{line.item} done"
        assert line.undo_key is not None
        assert line.undo_key.startswith(f"{line.key}/undo@")


def test_an_unknown_item_is_undone_without_a_receipt_when_nobody_can_say() -> None:
    ride = ListRide(listing("query each lone blind", parallel=2), ["x"] * 2)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#1", "landed")
    ride.cancel()
    ride.done("undo a#1")
    for _ in range(2):
        ride.wait(2)
        assert ride.asks == ["a#0"]
        ride.probe("a#0", "cannot_say")
    assert ride.go() == ["undo a#0"]
    ride.reply("undo a#0", "landed")
    assert (ride.phase, fates(ride)) == ("compensated", {"0": "undone", "1": "undone"})
