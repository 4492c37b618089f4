"""Money: charge a card, refund the charge."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pydantic import BaseModel, Field

from saga import (
    Absent,
    Call,
    CannotSay,
    Compensation,
    Effect,
    InProgress,
    Provider,
    Retry,
    Undo,
)
from steps import keyed

__all__ = [
    "Charge",
    "ChargeReceipt",
    "Refund",
    "at",
    "charge",
    "find_charge",
    "find_refund",
    "refund",
]


class Charge(BaseModel):
    """How much to charge whom, for which order."""

    order_id: str
    amount: Decimal = Field(ge=0, max_digits=16, decimal_places=4)
    payment_method: str


class ChargeReceipt(keyed.Receipt):
    """The charge that was made."""

    charge_id: str


class Refund(keyed.Receipt):
    """The money is on its way back."""

    refund_id: str


async def charge(call: Call[Charge]) -> ChargeReceipt:
    args = call.args
    body = {
        "order_id": args.order_id,
        "amount": f"{args.amount:f}",  # never 1E+2, which is a Decimal too
        "payment_method": args.payment_method,
    }
    return await keyed.make(call, "/charges", body, ChargeReceipt)


async def find_charge(call: Call[Charge]) -> ChargeReceipt | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/charges", ChargeReceipt)


async def refund(call: Undo[Charge, ChargeReceipt]) -> Refund:
    return await keyed.make(call, "/refunds", {"charge_id": call.receipt.charge_id}, Refund)


async def find_refund(
    call: Undo[Charge, ChargeReceipt],
) -> Refund | Absent | InProgress | CannotSay:
    return await keyed.find(call, "/refunds", Refund)


def at(
    provider: Provider | None = None,
    *,
    timeout: timedelta = timedelta(seconds=20),
    retry: Retry = keyed.RETRY,
    undo_retry: Retry = keyed.UNDO_RETRY,
    undo_deadline: timedelta | None = timedelta(days=7),
) -> tuple[Effect[Charge, ChargeReceipt], Compensation[Charge, ChargeReceipt]]:
    """Charging and refunding at this provider."""
    charge_card = Effect(
        "payments.charge",
        charge,
        probe=find_charge,
        target=["order_id"],
        timeout=timeout,
        provider=provider,
        retry=retry,
    )
    refund_card = Compensation(
        "payments.refund",
        refund,
        probe=find_refund,
        timeout=timeout,
        provider=provider,
        retry=undo_retry,
        deadline=undo_deadline,
    )
    return charge_card, refund_card
