"""The ready-made effects do, find and take back, against the real shop and its moods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from examples.order_flow.shop import Shop
from saga import (
    Absent,
    CannotSay,
    Compensation,
    Effect,
    InProgress,
    NotSent,
    Provider,
    Refused,
    Retry,
    Unknown,
)
from steps import inventory, payment, shipping
from tests.http.raw_server import raw_server, reply
from tests.shop.asking import meanwhile
from tests.steps.acting import key_of, made, undone

RESERVATION = inventory.Reservation(order_id="o-1", sku="teapot", quantity=2)
CHARGE = payment.Charge(order_id="o-1", amount=Decimal("49.90"), payment_method="pm_card")
SHIPMENT = shipping.Shipment(order_id="o-1", hold_id="hold_1", address="1 Main Street")


@dataclass(frozen=True)
class Kind:
    """One ready-made step: its functions, arguments, and what the shop calls it."""

    at: Callable[..., tuple[Effect[Any, Any], Compensation[Any, Any]]]
    do: Callable[[Any], Any]
    find: Callable[[Any], Any]
    undo: Callable[[Any], Any]
    find_undo: Callable[[Any], Any]
    args: BaseModel
    path: str
    undo_path: str
    made: str
    unmade: str


INVENTORY = Kind(
    inventory.at, inventory.reserve, inventory.find_hold, inventory.release,
    inventory.find_release, RESERVATION, "/holds", "/releases", "hold", "release",
)  # fmt: skip
PAYMENT = Kind(
    payment.at, payment.charge, payment.find_charge, payment.refund,
    payment.find_refund, CHARGE, "/charges", "/refunds", "charge", "refund",
)  # fmt: skip
SHIPPING = Kind(
    shipping.at, shipping.ship, shipping.find_parcel, shipping.cancel,
    shipping.find_cancellation, SHIPMENT, "/shipments", "/cancellations", "shipment",
    "cancellation",
)  # fmt: skip

pytestmark = pytest.mark.parametrize(
    "kind", [INVENTORY, PAYMENT, SHIPPING], ids=["inventory", "payment", "shipping"]
)


def test_it_is_done_once_and_found_and_taken_back_once(shop: Shop, kind: Kind) -> None:
    run = f"once {kind.made}"
    assert made(shop, kind.find, kind.args, run=run, step="s") == Absent()
    receipt = made(shop, kind.do, kind.args, run=run, step="s")
    assert made(shop, kind.do, kind.args, run=run, step="s") == receipt
    assert made(shop, kind.find, kind.args, run=run, step="s") == receipt
    assert receipt.idempotency_key == key_of(run, "s")

    assert undone(shop, kind.find_undo, kind.args, receipt, run=run, step="s") == Absent()
    undo = undone(shop, kind.undo, kind.args, receipt, run=run, step="s")
    assert undone(shop, kind.undo, kind.args, receipt, run=run, step="s") == undo
    assert undone(shop, kind.find_undo, kind.args, receipt, run=run, step="s") == undo
    assert undo.idempotency_key == key_of(run, "s") + "/undo@1"

    assert [(row["kind"], row["step"], row["of_key"]) for row in shop.effects(run)] == [
        (kind.made, "s", None),
        (kind.unmade, "s", key_of(run, "s")),
    ]


def test_a_refusal_is_refused_and_leaves_nothing(shop: Shop, kind: Kind) -> None:
    run = f"refused {kind.made}"
    shop.rule("refuse", run_id=run, code="not_today")
    with pytest.raises(Refused, match="400 not_today"):
        made(shop, kind.do, kind.args, run=run, step="s")
    assert made(shop, kind.find, kind.args, run=run, step="s") == Absent()


def test_a_refused_undo_is_refused(shop: Shop, kind: Kind) -> None:
    run = f"undo refused {kind.made}"
    receipt = made(shop, kind.do, kind.args, run=run, step="s")
    shop.rule("refuse", run_id=run, undo=True)
    with pytest.raises(Refused):
        undone(shop, kind.undo, kind.args, receipt, run=run, step="s")
    assert len(shop.ledger(run)) == 1


def test_a_lost_answer_is_unknown_and_then_found(shop: Shop, kind: Kind) -> None:
    run = f"lost {kind.made}"
    shop.rule("drop_answer", run_id=run)
    with pytest.raises(Unknown):
        made(shop, kind.do, kind.args, run=run, step="s")
    receipt = made(shop, kind.find, kind.args, run=run, step="s")
    shop.rule("drop_answer", run_id=run)
    with pytest.raises(Unknown):
        undone(shop, kind.undo, kind.args, receipt, run=run, step="s")
    undo = undone(shop, kind.find_undo, kind.args, receipt, run=run, step="s")
    assert undo.idempotency_key == key_of(run, "s") + "/undo@1"


def test_what_is_under_way_is_in_progress(shop: Shop, kind: Kind) -> None:
    run = f"under way {kind.made}"
    shop.rule("hold_request", run_id=run)
    body = kind.args.model_dump(mode="json")
    with meanwhile() as posting:
        first = posting(shop, kind.path, body, key=key_of(run, "s"), run=run)
        shop.wait_held(run_id=run)
        assert made(shop, kind.find, kind.args, run=run, step="s") == InProgress()
        shop.release(run_id=run)
        assert first.result().status == 201
    found = made(shop, kind.find, kind.args, run=run, step="s")
    assert found == made(shop, kind.do, kind.args, run=run, step="s")


def test_a_busy_shop_was_not_sent_anything(shop: Shop, kind: Kind) -> None:
    run = f"busy {kind.made}"
    shop.rule("busy", run_id=run, retry_after="3")
    with pytest.raises(NotSent) as not_sent:
        made(shop, kind.do, kind.args, run=run, step="s")
    assert not_sent.value.retry_after == timedelta(seconds=3)


def test_a_receipt_of_another_key_shows_that_key(shop: Shop, kind: Kind) -> None:
    """The echo is a field of the receipt, so whoever made the call sees that it differs."""
    run = f"other {kind.made}"
    shop.rule("wrong_key", run_id=run)
    receipt = made(shop, kind.do, kind.args, run=run, step="s")
    assert receipt.idempotency_key == "of-another-request"


def test_a_receipt_with_something_missing_is_an_error_without_its_values(kind: Kind) -> None:
    forgetful = reply(201, b'{"card": "4242424242424242"}')
    with raw_server(forgetful) as server, pytest.raises(ValidationError) as fault:
        made(server, kind.do, kind.args, run="r", step="s")
    assert "idempotency_key" in str(fault.value)
    assert "4242" not in str(fault.value)


def test_a_404_without_the_services_own_code_proves_nothing(kind: Kind) -> None:
    with raw_server(reply(404, b"<h1>Not Found</h1>", kind="text/html")) as server:
        answer = made(server, kind.find, kind.args, run="r", step="s")
    assert answer == CannotSay("404")


def test_the_provider_and_the_tuning_are_the_customers(kind: Kind) -> None:
    theirs = Provider("theirs", key_life=timedelta(hours=1), in_flight=timedelta(seconds=5))
    effect, compensation = kind.at(
        theirs,
        timeout=timedelta(seconds=3),
        retry=Retry(attempts=2),
        undo_retry=Retry(attempts=3),
        undo_deadline=timedelta(hours=1),
    )
    assert effect.provider is compensation.provider is theirs
    assert (effect.timeout, compensation.timeout) == (3, 3)
    assert (effect.retry.attempts, compensation.retry.attempts) == (2, 3)
    assert compensation.deadline == 3600


def test_without_a_provider_nothing_is_taken_for_guaranteed(kind: Kind) -> None:
    effect, compensation = kind.at()
    for contract in (effect, compensation):
        assert contract.provider.key_life is None
        assert contract.provider.in_flight is None
        assert contract.probe is not None
    assert effect.target == ("order_id",)
