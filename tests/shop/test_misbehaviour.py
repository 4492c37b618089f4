"""Each act of the rule book does what it says, and the ledger tells what really happened."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable

import pytest

from examples.order_flow.shop import Shop
from tests.shop.asking import CHARGE, Reply, find, meanwhile, post, posted

NO_ANSWER = (http.client.RemoteDisconnected, ConnectionResetError)


def charge(shop: Shop, run: str, *, timeout: float = 10) -> Reply:
    """One charge per run, under the key that is the run's name."""
    return post(shop, "/charges", CHARGE, key=run, run=run, step="charge", timeout=timeout)


def landed(shop: Shop, run: str) -> int:
    return len(shop.ledger(run))


def test_refuse_answers_as_told_and_does_nothing(shop: Shop) -> None:
    shop.rule("refuse", run_id="refuse", status=403, code="frozen")
    reply = charge(shop, "refuse")
    assert (reply.status, reply.code, landed(shop, "refuse")) == (403, "frozen", 0)


def test_a_refused_refund_leaves_the_charge_and_other_refunds_alone(shop: Shop) -> None:
    made = charge(shop, "refund refused").json
    shop.rule("refuse", run_id="refund refused", undo=True)
    body = {"charge_id": made["charge_id"]}
    refused, other = (
        post(shop, "/refunds", body, key=key, run="refund refused", of_key="refund refused")
        for key in ("refused/undo", "refused/undo~2")
    )
    assert (refused.status, other.status) == (400, 201)


def test_an_error_before_means_that_nothing_happened(shop: Shop) -> None:
    shop.rule("error_before", run_id="error before", status=502)
    assert (charge(shop, "error before").status, landed(shop, "error before")) == (502, 0)


def test_an_error_after_means_that_it_happened_all_the_same(shop: Shop) -> None:
    shop.rule("error_after", run_id="error after")
    assert (charge(shop, "error after").status, landed(shop, "error after")) == (500, 1)
    assert charge(shop, "error after").status == 201
    assert landed(shop, "error after") == 1


def test_a_stored_error_after_comes_again_though_it_happened(shop: Shop) -> None:
    shop.rule("error_after", run_id="stored after", stored=True)
    assert [charge(shop, "stored after").status for _ in range(2)] == [500, 500]
    assert landed(shop, "stored after") == 1
    assert find(shop, "/charges", key="stored after").status == 200


def test_a_dropped_request_never_arrived(shop: Shop) -> None:
    shop.rule("drop_request", run_id="drop request")
    with pytest.raises(NO_ANSWER):
        charge(shop, "drop request")
    assert landed(shop, "drop request") == 0


def test_a_dropped_answer_leaves_the_effect_behind(shop: Shop) -> None:
    shop.rule("drop_answer", run_id="drop answer")
    with pytest.raises(NO_ANSWER):
        charge(shop, "drop answer")
    assert landed(shop, "drop answer") == 1


def test_a_held_request_acts_only_when_released(shop: Shop) -> None:
    shop.rule("hold_request", run_id="hold request")
    with meanwhile() as posting:
        answer = posting(shop, "/charges", CHARGE, key="hold request", run="hold request")
        held = shop.wait_held(run_id="hold request")
        assert (held["place"], held["path"], landed(shop, "hold request")) == (
            "request",
            "/charges",
            0,
        )
        shop.release(id=held["id"])
        assert answer.result().status == 201
    assert landed(shop, "hold request") == 1
    assert shop.held(run_id="hold request") == []


def test_a_held_request_acts_when_released_though_its_client_is_gone(shop: Shop) -> None:
    shop.rule("hold_request", run_id="client gone")
    with posted(shop, "/charges", CHARGE, run="client gone"):
        shop.wait_held(run_id="client gone")
    assert landed(shop, "client gone") == 0
    shop.release(run_id="client gone")
    assert found_in_the_end(shop, "client gone")
    assert landed(shop, "client gone") == 1


def found_in_the_end(shop: Shop, run: str) -> bool:
    """Ask until it is there; the requests themselves are the waiting."""
    return any(find(shop, "/charges", key=run).status == 200 for _ in range(2000))


def test_an_invisible_held_request_is_not_in_flight_for_the_shop(shop: Shop) -> None:
    shop.rule("hold_request", run_id="invisible", visible=False)
    with meanwhile() as posting:
        first = posting(shop, "/charges", CHARGE, key="invisible", run="invisible")
        shop.wait_held(run_id="invisible")
        assert find(shop, "/charges", key="invisible").status == 404
        second = charge(shop, "invisible")
        shop.release(run_id="invisible")
        assert (second.status, first.result().body) == (201, second.body)
    assert landed(shop, "invisible") == 1


def test_a_held_answer_waits_while_the_effect_is_there(shop: Shop) -> None:
    shop.rule("hold_answer", run_id="hold answer")
    with meanwhile() as posting:
        answer = posting(shop, "/charges", CHARGE, key="hold answer", run="hold answer")
        assert shop.wait_held(run_id="hold answer")["place"] == "answer"
        assert landed(shop, "hold answer") == 1
        assert find(shop, "/charges", key="hold answer").status == 200
        shop.release(run_id="hold answer")
        assert answer.result().status == 201


def test_slow_ways_only_take_time(shop: Shop) -> None:
    shop.rule("slow_request", run_id="slow", seconds=0.02)
    shop.rule("slow_answer", run_id="slow", seconds=0.02)
    assert [charge(shop, "slow").status for _ in range(2)] == [201, 201]
    assert landed(shop, "slow") == 1


def test_a_late_request_lands_after_its_client_has_given_up(shop: Shop) -> None:
    shop.rule("late", run_id="late", seconds=3600)
    with pytest.raises(NO_ANSWER):
        charge(shop, "late")
    assert shop.wait_held(run_id="late")["place"] == "late"
    assert find(shop, "/charges", key="late").status == 404
    shop.release(run_id="late")
    assert found_in_the_end(shop, "late")


def test_a_late_request_lands_by_itself_when_its_time_has_come(shop: Shop) -> None:
    shop.rule("late", run_id="late alone", seconds=0.05)
    with pytest.raises(NO_ANSWER):
        charge(shop, "late alone")
    assert found_in_the_end(shop, "late alone")


def test_a_silent_late_request_lets_its_client_wait_in_vain(shop: Shop) -> None:
    shop.rule("late", run_id="silent", seconds=3600, silent=True)
    with pytest.raises(TimeoutError):
        charge(shop, "silent", timeout=0.2)
    shop.rule("late", run_id="silent too", seconds=3600, silent=True)
    with posted(shop, "/charges", CHARGE, run="silent too"):
        shop.wait_held(run_id="silent too")
    shop.release(run_id="silent too")
    assert found_in_the_end(shop, "silent too")


def test_a_late_request_is_stopped_by_the_key_if_another_was_faster(shop: Shop) -> None:
    shop.rule("late", run_id="overtaken", seconds=3600)
    with pytest.raises(NO_ANSWER):
        charge(shop, "overtaken")
    assert charge(shop, "overtaken").status == 201
    shop.release(run_id="overtaken")
    assert charge(shop, "overtaken").status == 201
    assert landed(shop, "overtaken") == 1


def is_no_json(reply: Reply) -> bool:
    try:
        json.loads(reply.body)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("how", "seen"),
    [
        ("json", is_no_json),
        ("html", lambda reply: "html" in reply.headers["content-type"] and is_no_json(reply)),
        ("array", lambda reply: isinstance(reply.json, list)),
        ("empty", lambda reply: reply.body == b""),
        ("huge", lambda reply: len(reply.body) > 1_000_000),
        ("type", lambda reply: "json" not in reply.headers["content-type"]),
    ],
)
def test_a_malformed_answer_comes_with_a_good_status_after_acting(
    shop: Shop, how: str, seen: Callable[[Reply], bool]
) -> None:
    run = f"malformed {how}"
    shop.rule("malformed", run_id=run, how=how)
    reply = charge(shop, run)
    assert (reply.status, landed(shop, run)) == (201, 1)
    assert seen(reply)


def test_a_truncated_answer_breaks_off(shop: Shop) -> None:
    shop.rule("malformed", run_id="truncated", how="truncated")
    with pytest.raises(http.client.IncompleteRead):
        charge(shop, "truncated")
    assert landed(shop, "truncated") == 1


def test_a_wrong_key_is_echoed_in_an_otherwise_good_receipt(shop: Shop) -> None:
    shop.rule("wrong_key", run_id="wrong key")
    reply = charge(shop, "wrong key")
    assert reply.status == 201
    assert (reply.json["idempotency_key"], reply.json["order_id"]) == (
        "of-another-request",
        "o-1",
    )


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_shop_says_when_to_come_again(shop: Shop, status: int) -> None:
    shop.rule("busy", run_id=f"busy {status}", status=status, retry_after="7")
    reply = charge(shop, f"busy {status}")
    assert (reply.status, reply.headers["retry-after"]) == (status, "7")
    assert landed(shop, f"busy {status}") == 0


def test_a_request_may_be_called_in_flight_though_it_is_not(shop: Shop) -> None:
    shop.rule("in_flight", run_id="so-called")
    assert charge(shop, "so-called").status == 409
    assert landed(shop, "so-called") == 0


def test_a_shop_that_forgets_a_key_does_it_twice(shop: Shop) -> None:
    charge(shop, "forget")
    shop.rule("forget", run_id="forget")
    assert charge(shop, "forget").status == 201
    assert landed(shop, "forget") == 2


def test_a_query_can_be_treated_badly_like_anything_else(shop: Shop) -> None:
    charge(shop, "asked")
    shop.rule("hide", run_id="asked", method="GET")
    shop.rule("error_before", run_id="asked", method="GET")
    shop.rule("refuse", run_id="asked", method="GET", status=403)
    shop.rule("in_flight", run_id="asked", method="GET")
    shop.rule("malformed", run_id="asked", method="GET", how="array")
    statuses = [find(shop, "/charges", key="asked", run="asked").status for _ in range(6)]
    assert statuses == [404, 500, 403, 409, 200, 200]
