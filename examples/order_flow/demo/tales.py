"""The orders of the demo: what is done to each, and what must be in both books afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from examples.order_flow.order_flow import Order

__all__ = ["BY_HAND", "TALES", "Tale", "tale"]

BY_HAND = "by hand"  # of an effect: somebody at the shop did it, no run

_SENT = ("hold", "charge", "shipment")
_TAKEN_BACK = ("hold", "charge", "refund", "release")


@dataclass(frozen=True, kw_only=True)
class Tale:
    """One order. Its id is the run's too.

    `rules` is what the shop is told beforehand; `lands` the effects in the order in which they must
    stand in the shop's ledger, and `by_hand` those of them that no run made; `cases` the verdicts
    by which its cases must have been closed.
    """

    id: str
    done: str
    outcome: str
    cause: str | None = None
    lands: tuple[str, ...]
    by_hand: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    payment_method: str = "pm_visa"
    rules: tuple[Mapping[str, Any], ...] = ()

    @property
    def order(self) -> Order:
        return Order(
            id=self.id,
            sku="green-tea",
            quantity=2,
            total=Decimal("24.90"),
            payment_method=self.payment_method,
            address="1 Harbour Road, Bergen",
        )


_REFUSES_PARCEL = {"act": "refuse", "step": "ship", "undo": False, "code": "no_such_address"}

TALES = (
    Tale(
        id="straight",
        done="nothing",
        outcome="completed",
        lands=_SENT,
    ),
    Tale(
        id="declined",
        done="the card is declined",
        outcome="compensated",
        cause="refused",
        lands=("hold", "release"),
        payment_method="pm_declined",
    ),
    Tale(
        id="no-parcel",
        done="shipping refuses the parcel",
        outcome="compensated",
        cause="refused",
        lands=_TAKEN_BACK,
        rules=(_REFUSES_PARCEL,),
    ),
    Tale(
        id="lost-answer",
        done="the shop charges, and its answer gets lost",
        outcome="completed",
        lands=_SENT,
        rules=({"act": "drop_answer", "step": "charge"},),
    ),
    Tale(
        id="cancelled",
        done="cancelled while the parcel is on its way",
        outcome="compensated",
        cause="cancelled",
        lands=("hold", "charge", "shipment", "cancellation", "refund", "release"),
        rules=({"act": "hold_answer", "step": "ship", "undo": False},),
    ),
    Tale(
        id="killed-early",
        done="kill -9 after the intent; the request for the charge arrives when all is over",
        outcome="completed",
        lands=_SENT,
        rules=({"act": "late", "step": "charge", "silent": True, "seconds": 3600},),
    ),
    Tale(
        id="killed-mid",
        done="kill -9 while the shop is about to charge",
        outcome="completed",
        lands=_SENT,
        rules=({"act": "hold_request", "step": "charge"},),
    ),
    Tale(
        id="killed-late",
        done="kill -9 after the charge, before its receipt is on disk",
        outcome="completed",
        lands=_SENT,
        rules=({"act": "hold_answer", "step": "charge"},),
    ),
    Tale(
        id="killed-undo",
        done="shipping refuses; kill -9 between refund and receipt, where another one takes over",
        outcome="compensated",
        cause="refused",
        lands=_TAKEN_BACK,
        rules=(_REFUSES_PARCEL, {"act": "hold_answer", "path": "/refunds"}),
    ),
    Tale(
        id="no-refund",
        done="shipping refuses, and then the refund is refused as well",
        outcome="compensated",
        cause="refused",
        lands=_TAKEN_BACK,
        by_hand=("refund",),
        cases=("landed",),
        rules=(_REFUSES_PARCEL, {"act": "refuse", "path": "/refunds", "code": "card_expired"}),
    ),
)


def tale(name: str) -> Tale:
    """The tale of an order."""
    return next(one for one in TALES if one.id == name)
