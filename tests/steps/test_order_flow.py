"""The example's definition: what it says, and that its bindings feed the steps."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest

from examples.order_flow.order_flow import Order, app, order_flow
from examples.order_flow.shop import Shop
from saga import Call, Undo
from saga.definition import warnings

ORDER = Order(
    id="o-7",
    sku="teapot",
    quantity=2,
    total=Decimal("49.90"),
    payment_method="pm_card",
    address="1 Main Street",
)


def test_it_reserves_charges_and_ships_and_each_can_be_taken_back() -> None:
    spec = order_flow.spec()
    assert [(s["name"], s["effect"]["name"], s["undo"]["name"]) for s in spec["steps"]] == [
        ("reserve", "inventory.reserve", "inventory.release"),
        ("charge", "payments.charge", "payments.refund"),
        ("ship", "shipping.create", "shipping.cancel"),
    ]
    assert spec["deadline"] == 2 * 86400


def test_it_has_nothing_to_be_warned_of() -> None:
    assert warnings(order_flow) == []


def test_its_steps_work_on_the_shop_forwards_and_back(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every function is called with what its bindings make of the order and the receipts."""
    monkeypatch.setenv("SHOP_URL", shop.url)
    asyncio.run(_there_and_back())
    effects = shop.effects("order-7")
    assert [(row["step"], row["kind"], row["of_key"] is None) for row in effects] == [
        ("reserve", "hold", True),
        ("charge", "charge", True),
        ("ship", "shipment", True),
        ("ship", "cancellation", False),
        ("charge", "refund", False),
        ("reserve", "release", False),
    ]
    assert effects[1]["receipt"]["amount"] == "49.90"


async def _there_and_back() -> None:
    given = ORDER.model_dump(mode="json")
    receipts: dict[str, Any] = {}
    assert app.lifespan is not None
    async with app.lifespan() as resources:
        named: dict[str, Any] = {
            "digest": "sha256:0",
            "run_id": "order-7",
            "attempt": 1,
            "deadline": datetime.now(UTC) + timedelta(seconds=5),
            "resources": resources,
        }
        calls: dict[str, Call[Any]] = {}
        for step in order_flow.steps:
            args = step.effect.args.model_validate(step.build(given, receipts))
            calls[step.name] = Call(args=args, key=f"o7/{step.name}", step=step.name, **named)
            receipt = await cast("Any", step.effect.do(calls[step.name]))
            receipts[step.name] = receipt.model_dump(mode="json")
        for step in reversed(order_flow.steps):
            assert step.undo is not None
            call = calls[step.name]
            undo: Undo[Any, Any] = Undo(
                args=call.args,
                receipt=step.effect.receipt.model_validate(receipts[step.name]),
                of_key=call.key,
                key=f"{call.key}/undo",
                step=step.name,
                **named,
            )
            await step.undo.do(undo)
