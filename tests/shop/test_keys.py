"""The shop honours idempotency keys as a good provider does, and nothing else protects."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.order_flow.shop import Shop, running_shop
from tests.shop.asking import CHARGE, HOLD, find, meanwhile, post


def test_a_request_without_a_key_is_not_served(shop: Shop) -> None:
    reply = post(shop, "/charges", CHARGE, key=None, run="keyless")
    assert (reply.status, reply.code) == (400, "idempotency_key_missing")
    assert shop.ledger("keyless") == []


@pytest.mark.parametrize("key", ["x" * 256, "späť", "tab\there"])
def test_a_key_that_is_no_key_is_refused(shop: Shop, key: str) -> None:
    assert post(shop, "/charges", CHARGE, key=key.encode().decode("latin-1")).status == 400


def test_the_same_key_and_body_get_the_same_answer_and_land_once(shop: Shop) -> None:
    first = post(shop, "/charges", CHARGE, key="same", run="same")
    again = post(shop, "/charges", CHARGE, key="same", run="same")
    assert first.status == 201
    assert (again.status, again.body) == (first.status, first.body)
    assert [row["key"] for row in shop.ledger("same")] == ["same"]


def test_the_order_of_fields_and_blanks_make_no_other_body(shop: Shop) -> None:
    first = post(shop, "/charges", CHARGE, key="order of fields")
    text = '{ "payment_method":"pm_card","amount" : "49.90", "order_id":"o-1" }'
    assert post(shop, "/charges", text, key="order of fields").body == first.body


def test_another_body_under_the_key_is_a_conflict_and_does_nothing(shop: Shop) -> None:
    post(shop, "/charges", CHARGE, key="other body", run="other body")
    reply = post(shop, "/charges", CHARGE | {"amount": "1"}, key="other body", run="other body")
    assert (reply.status, reply.code) == (422, "idempotency_key_reused")
    assert len(shop.ledger("other body")) == 1


def test_another_path_under_the_key_is_a_conflict(shop: Shop) -> None:
    post(shop, "/holds", HOLD, key="other path")
    assert post(shop, "/charges", CHARGE, key="other path").status == 422


def test_a_refusal_is_kept_under_its_key(shop: Shop) -> None:
    shop.rule("refuse", run_id="kept refusal", status=402, code="card_declined")
    first = post(shop, "/charges", CHARGE, key="kept refusal", run="kept refusal")
    again = post(shop, "/charges", CHARGE, key="kept refusal", run="kept refusal")
    assert (first.status, first.code) == (402, "card_declined")
    assert (again.status, again.body) == (first.status, first.body)
    assert shop.ledger("kept refusal") == []


def test_an_error_is_kept_only_if_the_shop_stored_it(shop: Shop) -> None:
    shop.rule("error_before", run_id="stored error", stored=True)
    shop.rule("error_before", run_id="passing error")
    assert [
        [post(shop, "/charges", CHARGE, key=run, run=run).status for _ in range(2)]
        for run in ("stored error", "passing error")
    ] == [[500, 500], [500, 201]]


def test_a_key_whose_request_is_under_way_is_in_flight(shop: Shop) -> None:
    shop.rule("hold_request", run_id="in flight")
    with meanwhile() as posting:
        first = posting(shop, "/charges", CHARGE, key="in flight", run="in flight")
        shop.wait_held(run_id="in flight")
        second = post(shop, "/charges", CHARGE, key="in flight", run="in flight")
        asked = find(shop, "/charges", key="in flight")
        assert find(shop, "/refunds", key="in flight").status == 404
        assert shop.release(run_id="in flight") == 1
        assert first.result().status == 201
    assert (second.status, second.code) == (409, "idempotency_key_in_use")
    assert (asked.status, asked.json) == (202, {"status": "in_progress"})
    assert len(shop.ledger("in flight")) == 1


def test_what_landed_is_found_by_its_key_with_its_echo(shop: Shop) -> None:
    made = post(shop, "/charges", CHARGE, key="found")
    found = find(shop, "/charges", key="found")
    assert (found.status, found.json) == (200, made.json)
    assert found.json["idempotency_key"] == "found"
    assert found.json["intent_digest"] == "sha256:of found"


def test_what_did_not_land_is_not_found(shop: Shop) -> None:
    shop.rule("refuse", run_id="not landed")
    post(shop, "/charges", CHARGE, key="not landed", run="not landed")
    post(shop, "/holds", HOLD, key="landed elsewhere")
    for key in ("never heard of", "not landed", "landed elsewhere"):
        reply = find(shop, "/charges", key=key)
        assert (reply.status, reply.code) == (404, "no_such_key")


def test_a_forgotten_key_protects_no_more_but_is_still_found(tmp_path: Path) -> None:
    with running_shop(tmp_path / "ledger.db", "--key-life", "0") as forgetful:
        first = post(forgetful, "/charges", CHARGE, key="k")
        second = post(forgetful, "/charges", CHARGE, key="k")
        assert first.json["charge_id"] != second.json["charge_id"]
        assert [row["key"] for row in forgetful.ledger()] == ["k", "k"]
        assert find(forgetful, "/charges", key="k").json == first.json


def test_a_query_may_lag_behind_the_effect(tmp_path: Path) -> None:
    with running_shop(tmp_path / "ledger.db", "--visible-after", "3600") as lagging:
        post(lagging, "/charges", CHARGE, key="k")
        assert find(lagging, "/charges", key="k").status == 404
        assert len(lagging.ledger()) == 1


def test_keys_outlive_the_shops_death(tmp_path: Path) -> None:
    with running_shop(tmp_path / "ledger.db") as shop:
        first = post(shop, "/charges", CHARGE, key="k")
        port = shop.port
        shop.kill()
        shop.start_again()
        assert shop.port == port
        assert post(shop, "/charges", CHARGE, key="k").body == first.body
        assert len(shop.ledger()) == 1
