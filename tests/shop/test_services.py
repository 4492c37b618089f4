"""Inventory, payments and shipping keep consistent books, row for row with the ledger."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from examples.order_flow.shop import Shop
from tests.shop.asking import CHARGE, HOLD, SHIPMENT, Reply, post


def rows(shop: Shop, query: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(shop.path)) as db:
        return list(db.execute(query, values))


def test_held_stock_is_not_free_until_it_is_released(shop: Shop) -> None:
    stock = "SELECT free, held FROM stock WHERE sku = 'lamp'"
    hold = post(shop, "/holds", HOLD | {"sku": "lamp"}, key="lamp").json
    assert rows(shop, stock) == [(999_998, 2)]
    post(shop, "/releases", {"hold_id": hold["hold_id"]}, key="lamp/undo", of_key="lamp")
    assert rows(shop, stock) == [(1_000_000, 0)]


def test_nobody_gets_more_than_there_is(shop: Shop) -> None:
    reply = post(shop, "/holds", HOLD | {"sku": "sold-out"}, key="sold out", run="sold out")
    assert (reply.status, reply.code) == (400, "out_of_stock")
    assert shop.ledger("sold out") == []


def test_a_hold_can_be_released_by_its_key_alone(shop: Shop) -> None:
    hold = post(shop, "/holds", HOLD, key="by key").json
    release = post(shop, "/releases", {"hold_key": "by key"}, key="by key/undo").json
    assert release["hold_id"] == hold["hold_id"]
    assert rows(shop, "SELECT state FROM holds WHERE key = 'by key'") == [("released",)]


def test_releasing_what_was_never_held_lands_and_moves_nothing(shop: Shop) -> None:
    release = post(shop, "/releases", {"hold_key": "never"}, key="never/undo", run="never")
    assert (release.status, release.json["hold_id"]) == (201, None)
    assert len(shop.ledger("never")) == 1


def test_releasing_twice_lands_twice_but_gives_the_stock_back_once(shop: Shop) -> None:
    hold = post(shop, "/holds", HOLD | {"sku": "vase"}, key="vase").json
    for key in ("vase/undo", "vase/undo-2"):
        post(shop, "/releases", {"hold_id": hold["hold_id"]}, key=key, run="vase")
    assert len(shop.ledger("vase")) == 2
    assert rows(shop, "SELECT free FROM stock WHERE sku = 'vase'") == [(1_000_000,)]


def test_a_declined_card_is_not_charged(shop: Shop) -> None:
    body = CHARGE | {"payment_method": "pm_declined"}
    reply = post(shop, "/charges", body, key="declined", run="declined")
    assert (reply.status, reply.code) == (402, "card_declined")
    assert shop.ledger("declined") == []


def test_a_second_refund_under_another_key_is_a_second_effect_for_all_to_see(shop: Shop) -> None:
    charge = post(shop, "/charges", CHARGE, key="twice").json
    body = {"charge_id": charge["charge_id"]}
    first, second = (
        post(shop, "/refunds", body, key=key, run="twice", of_key="twice").json
        for key in ("twice/undo", "twice/undo~2")
    )
    assert [first["refunded_in_all"], second["refunded_in_all"]] == ["49.90", "99.80"]
    assert [row["of_key"] for row in shop.ledger("twice")] == ["twice", "twice"]


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/refunds", {"charge_id": "charge_999999"}, "no_such_charge"),
        ("/refunds", {"charge_id": "nonsense"}, "no_such_charge"),
        ("/releases", {"hold_id": "hold_999999"}, "no_such_hold"),
        ("/cancellations", {"shipment_id": "shipment_999999"}, "no_such_shipment"),
    ],
)
def test_what_nobody_made_cannot_be_taken_back(
    shop: Shop, path: str, body: object, code: str
) -> None:
    reply = post(shop, path, body, key=json.dumps([path, body]), run="not made")
    assert (reply.status, reply.code) == (404, code)
    assert shop.ledger("not made") == []


def test_a_parcel_is_sent_and_called_off(shop: Shop) -> None:
    made = post(shop, "/shipments", SHIPMENT, key="parcel").json
    body = {"shipment_id": made["shipment_id"]}
    assert post(shop, "/cancellations", body, key="parcel/undo").status == 201
    number = int(made["shipment_id"].removeprefix("shipment_"))
    assert rows(shop, "SELECT state FROM shipments WHERE id = ?", number) == [("cancelled",)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/charges", "not json"),
        ("/charges", "[]"),
        ("/charges", "{}"),
        ("/charges", CHARGE | {"amount": 49.9}),
        ("/charges", CHARGE | {"amount": "-1"}),
        ("/charges", CHARGE | {"amount": "1e3"}),
        ("/charges", CHARGE | {"tip": "1"}),
        ("/charges", CHARGE | {"order_id": ""}),
        ("/holds", HOLD | {"quantity": 0}),
        ("/holds", HOLD | {"quantity": "2"}),
        ("/holds", HOLD | {"quantity": True}),
        ("/releases", {}),
        ("/releases", {"hold_id": "hold_1", "hold_key": "k"}),
        ("/shipments", SHIPMENT | {"address": None}),
    ],
)
def test_a_body_that_says_something_else_is_a_bad_request(
    shop: Shop, path: str, body: object
) -> None:
    assert post(shop, path, body, key=json.dumps(body), run="bad body").status == 400
    assert shop.ledger("bad body") == []


def test_the_ledger_tells_for_whom_in_which_order(shop: Shop) -> None:
    def told(reply: Reply) -> Reply:
        assert reply.status == 201
        return reply

    hold = told(post(shop, "/holds", HOLD, key="t/h", run="told", step="reserve")).json
    told(post(shop, "/charges", CHARGE, key="t/c", run="told", step="charge"))
    body = {"hold_id": hold["hold_id"]}
    told(post(shop, "/releases", body, key="t/h/undo", run="told", step="reserve", of_key="t/h"))
    assert [(row["key"], row["step"], row["of_key"]) for row in shop.ledger("told")] == [
        ("t/h", "reserve", None),
        ("t/c", "charge", None),
        ("t/h/undo", "reserve", "t/h"),
    ]
    times = [row["at"] for row in shop.ledger("told")]
    assert times == sorted(times)
    assert [(row["service"], row["kind"]) for row in shop.effects("told")] == [
        ("inventory", "hold"),
        ("payments", "charge"),
        ("inventory", "release"),
    ]
    assert shop.effects("told")[0]["receipt"] == hold
    assert shop.ask("GET", "/ledger") == shop.ledger()
    assert shop.ask("GET", "/effects") == shop.effects()
