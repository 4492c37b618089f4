"""The order flow at a shop whose facts are short, so that a test need not wait for a day.

The steps are the ready-made ones, as in `examples/order_flow`; only provider, time-outs and retries
differ. `plain_flow` is the same at a provider that declares no key life, though the shop keeps keys
all the same: nothing is repeated there on suspicion, so what cannot be told goes to a person.
`adrift_flow` and `plain_adrift_flow` are the two for clocks that are up to ADRIFT_SECONDS wrong.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx2

from examples.order_flow.order_flow import Order
from saga import App, Provider, Retry, Saga, Step, bind, input_of
from steps import inventory, payment, shipping
from steps.inventory import Reservation
from steps.payment import Charge
from steps.shipping import Shipment

__all__ = [
    "ADRIFT_SECONDS",
    "adrift_flow",
    "app",
    "order",
    "order_flow",
    "plain_adrift_flow",
    "plain_flow",
]

ADRIFT_SECONDS = 1.5  # at the most, forward or back

# A process that is stopped between its last look at the clock and the first byte sends that byte
# when it goes on: in_flight covers the longest stop of the storm and the shop's own delays.
_KEYED = Provider(
    "shop",
    key_life=timedelta(hours=24),
    in_flight=timedelta(seconds=2.5),
    visible_after=timedelta(milliseconds=100),
    late_until=timedelta(seconds=4),
    replays_refusals=True,
)
_PLAIN = Provider(
    "plain-shop",
    in_flight=timedelta(seconds=2.5),
    visible_after=timedelta(milliseconds=100),
    late_until=timedelta(seconds=4),
)
# Two processes may read the time of one byte that far apart; and leases there are a second longer.
_APART = timedelta(seconds=2 * ADRIFT_SECONDS + 1)
_TIMEOUT = timedelta(seconds=2)
_RETRY = Retry(attempts=10, first=0.02, factor=1.6, longest=0.5, jitter=0.02)


def _slower(provider: Provider) -> Provider:
    """The same shop, with room for clocks that do not agree."""
    assert isinstance(provider.in_flight, timedelta)
    assert isinstance(provider.late_until, timedelta)
    return replace(
        provider,
        name=f"{provider.name}-adrift",
        in_flight=provider.in_flight + _APART,
        late_until=provider.late_until + _APART,
    )


def _flow(name: str, provider: Provider) -> Saga[Order]:
    placed = input_of(Order)
    reserve_stock, release_stock = inventory.at(
        provider, timeout=_TIMEOUT, retry=_RETRY, undo_retry=_RETRY
    )
    charge_card, refund_card = payment.at(
        provider, timeout=_TIMEOUT, retry=_RETRY, undo_retry=_RETRY
    )
    create_shipment, cancel_shipment = shipping.at(
        provider, timeout=_TIMEOUT, retry=_RETRY, undo_retry=_RETRY
    )
    reserved = Step(
        "reserve",
        reserve_stock,
        compensation=release_stock,
        args=bind(Reservation)(order_id=placed.id, sku=placed.sku, quantity=placed.quantity),
    )
    charged = Step(
        "charge",
        charge_card,
        compensation=refund_card,
        args=bind(Charge)(
            order_id=placed.id, amount=placed.total, payment_method=placed.payment_method
        ),
    )
    shipped = Step(
        "ship",
        create_shipment,
        compensation=cancel_shipment,
        args=bind(Shipment)(
            order_id=placed.id, hold_id=reserved.receipt.hold_id, address=placed.address
        ),
    )
    return Saga(name, placed, [reserved, charged, shipped])


order_flow = _flow("order-flow", _KEYED)
plain_flow = _flow("plain-flow", _PLAIN)
adrift_flow = _flow("adrift-flow", _slower(_KEYED))
plain_adrift_flow = _flow("plain-adrift-flow", _slower(_PLAIN))


@asynccontextmanager
async def _lifespan() -> AsyncIterator[Sequence[object]]:
    url = os.environ["SHOP_URL"]
    async with httpx2.AsyncClient(base_url=url, timeout=None, trust_env=False) as client:
        yield [client]


app = App(order_flow, plain_flow, adrift_flow, plain_adrift_flow, lifespan=_lifespan)


def order(run_id: str, *, payment_method: str = "pm_card", quantity: int = 1) -> Order:
    """An order that goes through, unless told otherwise."""
    return Order(
        id=run_id,
        sku="teapot",
        quantity=quantity,
        total=Decimal("49.90"),
        payment_method=payment_method,
        address="1 Main Street",
    )
