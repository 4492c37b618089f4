"""What `saga.http` makes of a real process that misbehaves, and what had really happened."""

from __future__ import annotations

from typing import Any

import pytest

from examples.order_flow.shop import Shop
from saga.definition.answers import Absent, CannotSay, InProgress, NotSent, Refused, Unknown
from saga.definition.calls import Call
from saga.errors import Conflict
from tests.http.calling import Charge, call, find, post
from tests.shop.asking import CHARGE, meanwhile


def charge(run: str, *, seconds: float = 5) -> Call[Charge]:
    """A call whose key, run and digest are its own."""
    one = call(key=f"i1/{run}/charge/-@1", seconds=seconds)
    return Call(
        args=one.args,
        key=one.key,
        digest=f"sha256:{run}",
        run_id=run,
        step="charge",
        attempt=1,
        deadline=one.deadline,
    )


@pytest.mark.parametrize(
    ("act", "parameters", "result", "landed"),
    [
        ("refuse", {"status": 402, "code": "card_declined"}, Refused, 0),
        ("refuse", {"status": 404}, Refused, 0),
        ("error_before", {}, Unknown, 0),
        ("error_after", {}, Unknown, 1),
        ("error_after", {"stored": True}, Unknown, 1),
        ("error_before", {"status": 503}, NotSent, 0),
        ("drop_request", {}, Unknown, 0),
        ("drop_answer", {}, Unknown, 1),
        ("hold_request", {}, Unknown, 0),
        ("hold_answer", {}, Unknown, 1),
        ("late", {"seconds": 3600}, Unknown, 0),
        ("late", {"seconds": 3600, "silent": True}, Unknown, 0),
        ("malformed", {"how": "json"}, Unknown, 1),
        ("malformed", {"how": "html"}, Unknown, 1),
        ("malformed", {"how": "truncated"}, Unknown, 1),
        ("malformed", {"how": "array"}, Unknown, 1),
        ("malformed", {"how": "empty"}, Unknown, 1),
        ("malformed", {"how": "huge"}, Unknown, 1),
        ("malformed", {"how": "type"}, Unknown, 1),
        ("busy", {"retry_after": "7"}, NotSent, 0),
        ("busy", {"status": 429}, NotSent, 0),
        ("in_flight", {}, Unknown, 0),
    ],
)
def test_a_misbehaviour_becomes_the_result_that_is_proven(
    shop: Shop, act: str, parameters: dict[str, Any], result: type[Exception], landed: int
) -> None:
    run = f"{act}-{'-'.join(map(str, parameters.values()))}"
    shop.rule(act, run_id=run, **parameters)
    with pytest.raises(result) as raised:
        post(shop.url, one=charge(run, seconds=0.8), json=CHARGE)
    assert type(raised.value) is result
    assert len(shop.ledger(run)) == landed
    answer = find(shop.url, one=charge(run))
    if landed:
        assert isinstance(answer, dict)
        assert answer["idempotency_key"] == charge(run).key
        assert answer["intent_digest"] == charge(run).digest
    else:
        assert answer == (InProgress() if act == "hold_request" else Absent())
    shop.release(run_id=run)


def test_the_same_call_again_gets_the_receipt_it_missed(shop: Shop) -> None:
    shop.rule("drop_answer", run_id="missed", times=2)
    for _ in range(2):
        with pytest.raises(Unknown):
            post(shop.url, one=charge("missed"), json=CHARGE)
    receipt = post(shop.url, one=charge("missed"), json=CHARGE)
    assert receipt == find(shop.url, one=charge("missed"))
    assert len(shop.ledger("missed")) == 1


def test_another_body_under_the_key_is_a_conflict(shop: Shop) -> None:
    post(shop.url, one=charge("conflict"), json=CHARGE)
    with pytest.raises(Conflict, match="idempotency_key_reused"):
        post(shop.url, one=charge("conflict"), json=CHARGE | {"amount": "1"})
    assert len(shop.ledger("conflict")) == 1


def test_a_call_beside_one_under_way_is_unknown(shop: Shop) -> None:
    shop.rule("hold_request", run_id="beside")
    with meanwhile() as posting:
        one = charge("beside")
        first = posting(shop, "/charges", CHARGE, key=one.key, run="beside")
        shop.wait_held(run_id="beside")
        with pytest.raises(Unknown, match="still in progress"):
            post(shop.url, one=one, json=CHARGE)
        assert find(shop.url, one=one) == InProgress()
        shop.release(run_id="beside")
        assert first.result().status == 201
    assert isinstance(find(shop.url, one=charge("beside")), dict)


def test_a_question_that_goes_wrong_cannot_say(shop: Shop) -> None:
    post(shop.url, one=charge("asked"), json=CHARGE)
    acts = ["error_before", "drop_request", "drop_answer", "malformed", "busy", "refuse"]
    for act in acts:
        shop.rule(act, run_id="asked", method="GET")
    answers = [find(shop.url, one=charge("asked")) for _ in acts]
    assert {type(answer) for answer in answers} == {CannotSay}


def test_a_shop_that_is_gone_is_not_sent_and_cannot_say(shop: Shop) -> None:
    shop.kill()
    try:
        with pytest.raises(NotSent):
            post(shop.url, one=charge("gone"), json=CHARGE)
        assert isinstance(find(shop.url, one=charge("gone")), CannotSay)
    finally:
        shop.start_again()
