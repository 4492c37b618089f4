"""An order: reserve the stock, charge the card, send the parcel; or take all of it back.

python -m examples.order_flow.shop --port 8765 --ledger shop.db      # the outside world
saga orchestrator examples/order_flow/order_flow.py:app              # whoever does it
saga start examples/order_flow/order_flow.py:app order-flow order-1 @order.json --wait
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal

import httpx2
from pydantic import BaseModel

from saga import App, Provider, Saga, Step, bind, input_of
from steps import inventory, payment, shipping
from steps.inventory import Reservation
from steps.payment import Charge
from steps.shipping import Shipment

__all__ = ["Order", "app", "order_flow"]


class Order(BaseModel):
    id: str
    sku: str
    quantity: int
    total: Decimal
    payment_method: str
    address: str


# What the shop guarantees: `shop/desk.py` keeps every word of it.
shop = Provider(
    "shop",
    key_life=timedelta(hours=24),
    in_flight=timedelta(seconds=90),
    visible_after=timedelta(seconds=10),
    late_until=timedelta(hours=1),
    replays_refusals=True,
)
reserve_stock, release_stock = inventory.at(shop)
charge_card, refund_card = payment.at(shop)
create_shipment, cancel_shipment = shipping.at(shop)

order = input_of(Order)
reserved = Step(
    "reserve",
    reserve_stock,
    compensation=release_stock,
    args=bind(Reservation)(order_id=order.id, sku=order.sku, quantity=order.quantity),
)
charged = Step(
    "charge",
    charge_card,
    compensation=refund_card,
    args=bind(Charge)(order_id=order.id, amount=order.total, payment_method=order.payment_method),
)
shipped = Step(
    "ship",
    create_shipment,
    compensation=cancel_shipment,
    args=bind(Shipment)(order_id=order.id, hold_id=reserved.receipt.hold_id, address=order.address),
)
order_flow = Saga("order-flow", order, [reserved, charged, shipped], deadline=timedelta(days=2))


@asynccontextmanager
async def lifespan() -> AsyncIterator[Sequence[object]]:
    """Open what the effects need: one HTTP client, whose base is the shop."""
    url = os.environ.get("SHOP_URL", "http://127.0.0.1:8765")
    # The deadline of each call bounds it; a proxy of the environment has no part in loopback.
    async with httpx2.AsyncClient(base_url=url, timeout=None, trust_env=False) as client:
        yield [client]


app = App(order_flow, lifespan=lifespan)
