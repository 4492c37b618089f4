"""Sagas: what must hold among the steps, each refusal with a stable code."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from saga import (
    Call,
    Effect,
    Irreversible,
    NothingToUndo,
    Saga,
    Satisfied,
    Step,
    Wait,
    bind,
    input_of,
)
from tests.definition import order_flow
from tests.definition.order_flow import charged, reserved
from tests.definition.trips import (
    Hotel,
    Trip,
    book,
    book_hotel,
    code_of,
    error_of,
    step,
    trip,
)


def test_a_saga_has_steps_that_are_steps() -> None:
    assert code_of(lambda: Saga("s", trip, [])) == "no-steps"
    assert code_of(lambda: Saga("s", trip, [book_hotel])) == "bad-step"  # type: ignore[list-item]


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65])
def test_a_saga_has_a_name(name: str) -> None:
    assert code_of(lambda: Saga(name, trip, [step()])) == "bad-name"


def test_a_saga_has_a_version_and_a_deadline_within_bounds() -> None:
    assert code_of(lambda: Saga("s", trip, [step()], version=0)) == "bad-version"
    assert code_of(lambda: Saga("s", trip, [step()], deadline=0)) == "bad-duration"
    assert code_of(lambda: Saga("s", trip, [step()], deadline=timedelta.max)) == "bad-duration"
    assert Saga("s", trip, [step()], deadline=1.5).machine_spec.deadline == 1.5


@pytest.mark.parametrize(
    "given",
    [Trip, Trip(traveller="a", city="b"), trip.city, "trip", None, reserved.receipt],
    ids=range(6),
)
def test_the_input_is_what_input_of_returned(given: Any) -> None:
    error = error_of(lambda: Saga("s", given, [step()]))
    assert error.code == "bad-input"
    assert "input_of" in error.remedy


def test_two_steps_of_one_name_are_refused() -> None:
    assert code_of(lambda: Saga("s", trip, [step(), step()])) == "duplicate-step"
    one = step()
    assert code_of(lambda: Saga("s", trip, [one, one])) == "duplicate-step"


def test_two_equal_steps_under_two_names_are_two_steps() -> None:
    flow = Saga("s", trip, [step("first"), step("second")])
    assert [row["name"] for row in flow.spec()["steps"]] == ["first", "second"]


def echo(name: str, args: Any, **given: Any) -> Step[Any, Any]:
    effect = Effect("echo", lambda call: call.args, args=Hotel, receipt=Hotel)
    return Step(name, effect, args=args, compensation=NothingToUndo("a test"), **given)


hotels = input_of(Hotel)


def test_steps_that_wait_for_each_other_are_refused() -> None:
    second = echo("second", hotels)
    first = echo("first", hotels, after=[second])
    third = echo("third", hotels, after=[first])
    error = error_of(lambda: Saga("s", hotels, [first, second]))
    assert error.code == "cycle"
    assert "first, second" in error.message
    assert code_of(lambda: Saga("s", hotels, [third, first, second])) == "cycle"


def test_a_step_after_one_that_is_not_in_the_saga_is_refused() -> None:
    other = echo("other", hotels)
    assert code_of(lambda: Saga("s", hotels, [echo("a", hotels, after=[other])])) == "unknown-step"
    assert code_of(lambda: echo("a", hotels, after=["other"])) == "bad-step"


def test_a_reference_to_a_step_that_need_not_have_run_is_refused() -> None:
    first = echo("first", hotels)
    second = echo("second", first.receipt)
    Saga("s", hotels, [first, second])
    early = echo("early", first.receipt)
    assert code_of(lambda: Saga("s", hotels, [early, first])) == "not-before"
    # In the list before it, and yet on another branch.
    beside = echo("beside", first.receipt, after=[])
    assert code_of(lambda: Saga("s", hotels, [first, beside])) == "not-before"


def test_a_reference_reaches_every_step_before_and_not_only_the_last() -> None:
    first = echo("first", hotels)
    middle = echo("middle", hotels)
    last = echo("last", bind(Hotel)(booking_id=first.receipt.booking_id))
    flow = Saga("s", hotels, [first, middle, last])
    assert flow.spec()["steps"][2]["args"]["fields"] == {
        "booking_id": {"ref": ["first", "receipt", "booking_id"]}
    }


def test_a_reference_to_a_step_of_another_saga_is_refused_though_its_name_is_there() -> None:
    mine, twin = echo("first", hotels), echo("first", hotels)
    assert code_of(lambda: Saga("s", hotels, [mine, echo("b", twin.receipt)])) == "unknown-step"


def test_a_reference_to_another_input_is_refused() -> None:
    assert code_of(lambda: Saga("s", hotels, [step()])) == "other-input"
    # Two inputs of one model are the same input.
    assert Saga("s", input_of(Trip), [step()]).input_model is Trip


def test_one_name_and_version_is_one_contract() -> None:
    again = Effect("hotel.book", book, timeout=5)
    other = Effect("hotel.book", book, target=["city"])
    newer = Effect("hotel.book", book, target=["city"], version=2)
    Saga("s", trip, [step("a"), step("b", effect=again)])
    Saga("s", trip, [step("a"), step("b", effect=newer)])
    assert code_of(lambda: Saga("s", trip, [step("a"), step("b", effect=other)])) == "label-twice"


def test_branches_run_beside_each_other_and_a_join_waits_for_all() -> None:
    first, second = step("first", after=[]), step("second", after=[])
    join = step("join", after=[first, second])
    flow = Saga("s", trip, [first, second, join])
    assert [s.after for s in flow.machine_spec.steps] == [(), (), (0, 1)]
    assert code_of(lambda: Saga("s", trip, [second, join, first])) == "listed-later"


def test_what_is_not_declared_is_not_in_the_specification() -> None:
    """So the digests of sagas that do without a block stay what they were before there was one."""
    plain, odd = step("plain"), step("odd", optional=True)
    rows = Saga("s", trip, [plain, odd, step("last", pivot=True)]).spec()["steps"]
    assert [sorted({"optional", "pivot"} & set(row)) for row in rows] == [
        [],
        ["optional"],
        ["pivot"],
    ]
    digests = {
        Saga("s", trip, [plain, step("other", **given)]).digest()
        for given in ({}, {"optional": True}, {"pivot": True})
    }
    assert len(digests) == 3


async def close(call: Call[Trip]) -> Hotel | Satisfied:
    return Satisfied(call.args)


def test_no_step_may_refer_to_a_receipt_that_may_be_an_evidence() -> None:
    first = Step("close", Effect("desk.close", close), args=trip, compensation=reads())
    late = step("late", args=bind(Trip)(traveller=first.receipt.booking_id, city="Rome"))
    assert code_of(lambda: Saga("s", trip, [first, late])) == "may-be-satisfied"


def reads() -> NothingToUndo:
    return NothingToUndo("reads only")


def test_a_wait_beside_a_pivot_has_a_limit_of_its_own() -> None:
    wait: Wait[Trip] = Wait("paid", signal=Trip)
    paid = step("pay", pivot=True)
    assert code_of(lambda: Saga("s", trip, [paid, wait], deadline=9)) == "endless-wait"
    Saga("s", trip, [wait, paid], deadline=9)


def test_no_step_may_refer_to_the_receipt_of_an_optional_one() -> None:
    odd = step("odd", optional=True)
    late = step("late", args=bind(Trip)(traveller=odd.receipt.booking_id, city="Rome"))
    assert code_of(lambda: Saga("s", trip, [odd, late])) == "may-be-skipped"


def test_the_line_may_be_written_with_after() -> None:
    first = step("first", after=[])
    second = step("second", after=[first, first])
    flow = Saga("s", trip, [first, second, step("third")])
    assert [row["after"] for row in flow.spec()["steps"]] == [[], ["first"], ["second"]]
    assert [s.after for s in flow.machine_spec.steps] == [(), (0,), (1,)]
    assert [s.before for s in flow.machine_spec.steps] == [(1,), (2,), ()]


def test_what_a_pivot_does_not_wait_for_must_go_forward() -> None:
    mail = step("mail", compensation=Irreversible("mail cannot be unsent"))
    assert code_of(lambda: Saga("s", trip, [mail, step()])) == "past-pivot"
    assert code_of(lambda: Saga("s", trip, [step("pay", pivot=True), step()])) == "past-pivot"
    assert code_of(lambda: Saga("s", trip, [mail, step("beside", after=[])])) == "past-pivot"
    strict = Effect("hotel.look", book, refused=[ValueError])
    reads = NothingToUndo("reads only")
    looks = step("look", effect=strict, compensation=reads)
    assert code_of(lambda: Saga("s", trip, [mail, looks])) == "past-pivot"
    Saga("s", trip, [mail, step("look", effect=strict, compensation=reads, optional=True)])
    Saga("s", trip, [step("pay", pivot=True), step("look", compensation=reads)])
    flow = Saga("s", trip, [step(), mail])
    assert flow.machine_spec.steps[1].irreversible
    assert flow.machine_spec.steps[1].undo_reason == "mail cannot be unsent"


def test_a_saga_finds_its_steps_by_name() -> None:
    assert order_flow.order_flow.step("charge") is charged
    with pytest.raises(KeyError):
        order_flow.order_flow.step("nothing")


def test_the_specification_is_a_fresh_copy_each_time() -> None:
    flow = order_flow.order_flow
    flow.spec()["steps"].clear()
    assert len(flow.spec()["steps"]) == 3
    assert flow.machine_spec is flow.machine_spec


# --- the app -------------------------------------------------------------------------------
