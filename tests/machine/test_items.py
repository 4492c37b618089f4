"""The items of an `Each` going forward: which begin, how many at once, what is held."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machine.list_ride import ListRide, item_fates, listing, over
from tests.machine.ride import refusal

TEN_THOUSAND = 10_000


# ---- the list


@pytest.mark.parametrize(
    ("items", "key", "said"),
    [
        (None, None, "input.items is no list"),
        ("ada", None, "input.items is no list"),
        ({"0": "ada"}, None, "input.items is no list"),
        (["x"] * (TEN_THOUSAND + 1), None, "input.items has 10001 items; the limit is 10000"),
        (["a", "b", "a"], (), "input.items[0] and [2] have the same key"),
        ([{"id": 1}, {"id": "1"}], ("id",), "input.items[0] and [1] have the same key"),
        ([{"id": "a"}, {"id": None}], ("id",), "input.items[1] has no key"),
        ([{"id": 1.5}], ("id",), "input.items[0] has no key"),
        ([{"id": True}], ("id",), "input.items[0] has no key"),
        ([{"id": ""}], ("id",), "input.items[0] has no key"),
        ([{"id": {"n": 1}}], ("id",), "input.items[0] has no key"),
        ([{"name": "secret"}], ("id",), "input.items[0] has no key"),
        (["secret"], ("id",), "input.items[0] has no key"),
        ([{"id": {"n": None}}], ("id", "n"), "input.items[0] has no key"),
    ],
    ids=range(14),
)
def test_a_list_that_cannot_be_gone_over_is_refused_as_a_whole(
    items: Any, key: tuple[str, ...] | None, said: str
) -> None:
    ride = ListRide(listing("keys", "keys each", key=key), items)
    ride.done("a")
    assert ride.told[-2:] == ["refused", "winding_down"]
    assert (ride.state.cause, ride.state.cause_step) == ("refused", "b")
    error = ride.state.cause_error
    assert error is not None
    assert error["text"].startswith(said)
    assert "secret" not in error["text"]
    assert ride.go() == ["undo a"]
    ride.reply("undo a", "landed")
    assert ride.phase == "compensated"
    assert item_fates(ride) == [(None, "undone"), (None, "never")]


def test_the_limit_itself_is_taken_and_so_is_any_name_that_differs() -> None:
    assert over("keys each", ["x"] * TEN_THOUSAND).state.progress[0].size == TEN_THOUSAND
    named = over("keys each", [{"id": 1}, {"id": "a b"}, {"id": "ä"}, {"id": -1}], key=("id",))
    items = named.state.progress[0].items
    assert items is not None
    assert (items.order[0], items.order[3]) == ("1", "-1")
    assert {len(name) for name in items.order[1:3]} == {32}  # neither is an id


def test_a_bad_list_fails_the_step_also_where_its_items_are_optional() -> None:
    """An item that fails is skipped; a list that cannot be gone over is no item."""
    ride = ListRide(listing("keys each optional", "keys"), "no list")
    assert (ride.phase, ride.action("a").state) == ("compensated", "refused")


def test_past_the_pivot_a_bad_list_is_a_persons_and_is_never_sent_as_a_whole() -> None:
    ride = ListRide(listing("keys pivot", "keys each reads"), "no list")
    ride.done("a")
    assert ride.cases == ["exhausted b"]
    for verdict in ("retry", "absent", "undone"):
        assert refusal(ride.resolve("b", verdict, evidence="none")), verdict
    ride.resolve("b", "landed", receipt={})
    assert ride.phase == "completed"


def test_an_empty_list_is_done_at_once() -> None:
    ride = ListRide(listing("keys each", "keys", "keys each"), [])
    assert ride.told[-3:] == ["spread", "intended", "sending"] or ride.go() == ["b"]
    ride.reply("b", "landed")
    assert ride.phase == "completed"
    assert item_fates(ride) == [(None, "landed")]
    assert ListRide(listing("keys each"), []).phase == "completed"


def test_an_empty_pivot_is_none() -> None:
    ride = ListRide(listing("keys", "keys each pivot", "keys reads"), [])
    ride.done("a")
    assert ride.go() == ["c"]
    assert not refusal(ride.cancel())
    ride.reply("c", "landed")
    ride.done("undo a")
    assert ride.phase == "compensated"


# ---- how many at once


@pytest.mark.parametrize("parallel", [1, 2, 3, 7, 10])
def test_so_many_are_under_way_as_parallel_says_and_they_begin_in_order(parallel: int) -> None:
    ride = over("keys each", ["x"] * 7, parallel=parallel)
    flying = ride.go()
    assert flying == [f"a#{number}" for number in range(min(parallel, 7))]
    order = list(flying)
    while flying:
        ride.reply(flying.pop(), "landed")  # the newest first: no item waits for its place
        began = ride.go()
        assert len(began) <= 1
        flying += began
        order += began
        assert len(flying) == min(parallel, 7 - ride.state.progress[0].done)
    assert order == [f"a#{number}" for number in range(7)]
    assert ride.phase == "completed"


@pytest.mark.parametrize(("parallel", "batch"), [(2, 3), (3, 2), (5, 5), (1, 3), (9, 1)])
def test_a_batch_is_done_before_the_next_one_begins(parallel: int, batch: int) -> None:
    ride = over("keys each", ["x"] * 8, parallel=parallel, batch=batch)
    flying = ride.go()
    assert len(flying) == min(parallel, batch)
    while flying:
        ride.reply(flying.pop(0), "landed")
        flying += ride.go()
        done = ride.state.progress[0].done
        end = min((done // batch + 1) * batch, 8)
        assert len(flying) == min(parallel, end - done)
        assert ride.begun() <= end
    assert ride.phase == "completed"


def test_one_that_is_tried_again_keeps_its_place() -> None:
    ride = over("keys each", ["x"] * 4, parallel=2)
    ride.go()
    ride.reply("a#0", "not_sent")
    ride.reply("a#1", "landed")
    assert ride.go() == ["a#2"]
    ride.reply("a#2", "landed")
    assert ride.go() == ["a#3"]
    ride.wait(1)
    assert ride.go() == ["a#0"]


# ---- what an unknown one holds


def test_hold_all_sends_nothing_while_one_is_unknown() -> None:
    ride = over("keys query each", ["x"] * 6, parallel=3)
    ride.go()
    ride.reply("a#1", "not_sent")
    ride.wait(1)
    ride.reply("a#0", "unknown")
    assert ride.go() == []  # neither the one that was not sent nor a new one
    ride.reply("a#2", "landed")
    assert (ride.go(), ride.asks) == ([], ["a#0"])
    ride.probe("a#0", "landed")
    assert ride.go() == ["a#1", "a#3", "a#4"]


def test_the_unknown_one_itself_is_sent_again_under_its_key() -> None:
    ride = over("keys each", ["x"] * 3, parallel=1)
    ride.go()
    key = ride.action("a#0").key
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.wait(1)
    assert ride.go() == ["a#0"]
    assert ride.action("a#0").key == key
    ride.reply("a#0", "landed")
    assert ride.go() == ["a#1"]


def test_all_that_are_unknown_must_be_settled_before_another_begins() -> None:
    ride = over("query each", ["x"] * 4, parallel=2)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#1", "unknown")
    assert sorted(ride.asks) == ["a#0", "a#1"]
    ride.probe("a#1", "landed")
    assert ride.go() == []
    ride.probe("a#0", "landed")
    assert ride.go() == ["a#2", "a#3"]


def test_hold_item_goes_on_with_all_others_and_the_run_does_not_end_before_it_is_known() -> None:
    ride = over("nothing each lone", ["x"] * 4, parallel=1)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    assert ride.cases == ["unknown a#0"]
    for number in (1, 2, 3):
        assert ride.go() == [f"a#{number}"]
        ride.reply(f"a#{number}", "landed")
    assert (ride.phase, ride.plan.due) == ("running", None)
    ride.resolve("a#0", "landed", receipt="seen")
    assert ride.phase == "completed"


def test_an_unknown_item_keeps_its_batch_open() -> None:
    ride = over("nothing each lone", ["x"] * 3, parallel=2, batch=2)
    ride.go()
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#1", "landed")
    assert ride.go() == []
    ride.resolve("a#0", "landed", receipt="seen")
    assert ride.go() == ["a#2"]


def test_hold_target_holds_only_what_is_about_the_same() -> None:
    ride = over("query each targeted", ["x1", "y1", "x2", "y2", "x3"], parallel=4)
    assert ride.go() == ["a#0", "a#1", "a#2", "a#3"]
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#2", "not_sent")
    ride.reply("a#3", "not_sent")
    ride.reply("a#1", "landed")
    ride.wait(1)
    assert ride.go() == ["a#3"]
    # The fifth is frozen, since others may come after it, and waits.
    assert ride.states() == "unknown landed not_sent sending intended"
    assert ride.asks == ["a#0"]
    ride.reply("a#3", "landed")
    ride.probe("a#0", "landed")
    assert ride.go() == ["a#2", "a#4"]


def test_a_target_is_free_when_the_last_unknown_one_about_it_is_settled() -> None:
    ride = over("query each targeted", ["x1", "x2", "x3", "y"], parallel=3)
    assert ride.go() == ["a#0", "a#1", "a#2"]
    ride.wait(1)
    ride.reply("a#0", "unknown")
    ride.reply("a#1", "unknown")
    ride.reply("a#2", "not_sent")
    assert ride.go() == ["a#3"]
    ride.probe("a#1", "landed")
    ride.wait(1)
    assert ride.go() == []
    ride.probe("a#0", "landed")
    assert ride.go() == ["a#2"]


def test_an_item_is_a_target_of_its_own_run_only() -> None:
    """Two lists in a row: what is unknown of one was settled before the other begins."""
    ride = ListRide(listing("keys each targeted", "keys each targeted"), ["x", "x"])
    assert ride.go() == ["a#0", "a#1"]
    ride.reply("a#0", "landed")
    ride.reply("a#1", "landed")
    assert ride.go() == ["b#0", "b#1"]
    assert len({one.target for one in ride.state.actions.values()}) == 1
