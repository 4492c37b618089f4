"""What only one of the ready-made steps can do, or must not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from examples.order_flow.shop import Shop
from saga import Absent, Refused
from steps import inventory, payment, shipping
from tests.steps.acting import made, undone

RESERVATION = inventory.Reservation(order_id="o-1", sku="teapot", quantity=2)


def test_stock_is_released_without_a_receipt_if_it_was_held(shop: Shop) -> None:
    hold = made(shop, inventory.reserve, RESERVATION, run="no receipt", step="s")
    release = undone(shop, inventory.release, RESERVATION, None, run="no receipt", step="s")
    assert release.hold_id == hold.hold_id
    found = undone(shop, inventory.find_release, RESERVATION, None, run="no receipt", step="s")
    assert found == release


def test_stock_is_released_without_a_receipt_though_it_was_never_held(shop: Shop) -> None:
    release = undone(shop, inventory.release, RESERVATION, None, run="never held", step="s")
    assert release.hold_id is None


def test_only_a_release_works_without_a_receipt() -> None:
    needs = [module.at()[1].needs_receipt for module in (inventory, payment, shipping)]
    assert needs == [False, True, True]


@pytest.mark.parametrize("amount", ["49.90", "100", "1E+2", "0.0001"])
def test_an_amount_is_sent_in_plain_digits(shop: Shop, amount: str) -> None:
    args = payment.Charge(order_id="o-1", amount=Decimal(amount), payment_method="pm_card")
    made(shop, payment.charge, args, run=f"amount {amount}", step="s")
    (effect,) = shop.effects(f"amount {amount}")
    assert Decimal(effect["receipt"]["amount"]) == Decimal(amount)
    assert "E" not in effect["receipt"]["amount"]


def test_a_declined_card_is_refused_by_name(shop: Shop) -> None:
    args = payment.Charge(order_id="o-1", amount=Decimal(1), payment_method="pm_declined")
    with pytest.raises(Refused, match="402 card_declined"):
        made(shop, payment.charge, args, run="declined", step="s")
    assert made(shop, payment.find_charge, args, run="declined", step="s") == Absent()


def test_stock_that_is_not_there_is_refused_by_name(shop: Shop) -> None:
    args = inventory.Reservation(order_id="o-1", sku="sold-out", quantity=1)
    with pytest.raises(Refused, match="400 out_of_stock"):
        made(shop, inventory.reserve, args, run="sold out", step="s")


def test_what_the_service_does_not_know_cannot_be_taken_back(shop: Shop) -> None:
    charge = payment.Charge(order_id="o-1", amount=Decimal(1), payment_method="pm_card")
    charged = payment.ChargeReceipt(charge_id="charge_999999", idempotency_key="k")
    with pytest.raises(Refused, match="404 no_such_charge"):
        undone(shop, payment.refund, charge, charged, run="no charge", step="s")

    shipment = shipping.Shipment(order_id="o-1", hold_id="hold_1", address="1 Main Street")
    parcel = shipping.Parcel(shipment_id="shipment_999999", tracking="t", idempotency_key="k")
    with pytest.raises(Refused, match="404 no_such_shipment"):
        undone(shop, shipping.cancel, shipment, parcel, run="no parcel", step="s")

    hold = inventory.Hold(hold_id="hold_999999", idempotency_key="k")
    with pytest.raises(Refused, match="404 no_such_hold"):
        undone(shop, inventory.release, RESERVATION, hold, run="no hold", step="s")
