"""Inventory, payments and shipping: what each request does to the shop's books.

Three services that share nothing but the process: shipping takes a hold id on trust and payments
knows no stock, as separate companies would. An act runs within the transaction that also keeps its
answer and its ledger row; `No` is raised before anything has changed and becomes the answer.

Two names play by themselves, without a rule: the payment method `pm_declined` is declined and the
sku `sold-out` is out of stock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from examples.order_flow.shop.ledger import Asked

__all__ = ["SERVICES", "No", "Service"]

_STOCK_AT_FIRST = 1_000_000

_Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Money = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,12}(\.[0-9]{1,4})?$")]


class No(Exception):
    """The service declines; nothing happened."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _HoldBody(_Body):
    order_id: _Name
    sku: _Name
    quantity: Annotated[int, Field(ge=1, le=1000)]


class _ReleaseBody(_Body):
    """By the hold, or by the key of the request that may have made one."""

    hold_id: _Name | None = None
    hold_key: _Name | None = None

    @model_validator(mode="after")
    def exactly_one(self) -> _ReleaseBody:
        if (self.hold_id is None) == (self.hold_key is None):
            raise ValueError("either hold_id or hold_key")
        return self


class _ChargeBody(_Body):
    order_id: _Name
    amount: _Money
    payment_method: _Name


class _RefundBody(_Body):
    charge_id: _Name


class _ShipmentBody(_Body):
    order_id: _Name
    hold_id: _Name
    address: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class _CancellationBody(_Body):
    shipment_id: _Name


def _hold(db: sqlite3.Connection, body: _HoldBody, asked: Asked) -> dict[str, Any]:
    first = 0 if body.sku == "sold-out" else _STOCK_AT_FIRST
    db.execute("INSERT OR IGNORE INTO stock VALUES (?, ?, 0)", (body.sku, first))
    moved = db.execute(
        "UPDATE stock SET free = free - :n, held = held + :n WHERE sku = :sku AND free >= :n",
        {"n": body.quantity, "sku": body.sku},
    )
    if moved.rowcount == 0:
        raise No(400, "out_of_stock")
    row = db.execute(
        "INSERT INTO holds (key, order_id, sku, quantity, state) VALUES (?, ?, ?, ?, 'held')",
        (asked.key, body.order_id, body.sku, body.quantity),
    )
    return {"hold_id": f"hold_{row.lastrowid}", **body.model_dump()}


def _release(db: sqlite3.Connection, body: _ReleaseBody, _asked: Asked) -> dict[str, Any]:
    if body.hold_id is not None:
        held = db.execute("SELECT * FROM holds WHERE id = ?", (_number(body.hold_id),)).fetchone()
        if held is None:
            raise No(404, "no_such_hold")
    else:
        held = db.execute("SELECT * FROM holds WHERE key = ?", (body.hold_key,)).fetchone()
    if held is not None and held["state"] == "held":
        db.execute("UPDATE holds SET state = 'released' WHERE id = ?", (held["id"],))
        db.execute(
            "UPDATE stock SET free = free + :n, held = held - :n WHERE sku = :sku",
            {"n": held["quantity"], "sku": held["sku"]},
        )
    row = db.execute(
        "INSERT INTO releases (hold, hold_key) VALUES (?, ?)",
        (held["id"] if held else None, body.hold_key),
    )
    return {
        "release_id": f"release_{row.lastrowid}",
        "hold_id": f"hold_{held['id']}" if held else None,
    }


def _charge(db: sqlite3.Connection, body: _ChargeBody, _asked: Asked) -> dict[str, Any]:
    if body.payment_method == "pm_declined":
        raise No(402, "card_declined")
    row = db.execute(
        "INSERT INTO charges (order_id, amount, payment_method) VALUES (?, ?, ?)",
        (body.order_id, body.amount, body.payment_method),
    )
    return {
        "charge_id": f"charge_{row.lastrowid}",
        "order_id": body.order_id,
        "amount": body.amount,
    }


def _refund(db: sqlite3.Connection, body: _RefundBody, _asked: Asked) -> dict[str, Any]:
    charged = db.execute(
        "SELECT * FROM charges WHERE id = ?", (_number(body.charge_id),)
    ).fetchone()
    if charged is None:
        raise No(404, "no_such_charge")
    row = db.execute(
        "INSERT INTO refunds (charge, amount) VALUES (?, ?)", (charged["id"], charged["amount"])
    )
    amounts = db.execute("SELECT amount FROM refunds WHERE charge = ?", (charged["id"],))
    return {
        "refund_id": f"refund_{row.lastrowid}",
        "charge_id": body.charge_id,
        "amount": charged["amount"],
        "refunded_in_all": str(sum((Decimal(row["amount"]) for row in amounts), Decimal(0))),
    }


def _ship(db: sqlite3.Connection, body: _ShipmentBody, _asked: Asked) -> dict[str, Any]:
    row = db.execute(
        "INSERT INTO shipments (order_id, hold_id, address, state) VALUES (?, ?, ?, 'created')",
        (body.order_id, body.hold_id, body.address),
    )
    return {
        "shipment_id": f"shipment_{row.lastrowid}",
        "order_id": body.order_id,
        "tracking": f"TRACK{row.lastrowid:08}",
    }


def _cancel(db: sqlite3.Connection, body: _CancellationBody, _asked: Asked) -> dict[str, Any]:
    called_off = db.execute(
        "UPDATE shipments SET state = 'cancelled' WHERE id = ?", (_number(body.shipment_id),)
    )
    if called_off.rowcount == 0:
        raise No(404, "no_such_shipment")
    row = db.execute(
        "INSERT INTO cancellations (shipment) VALUES (?)", (_number(body.shipment_id),)
    )
    return {"cancellation_id": f"cancellation_{row.lastrowid}", "shipment_id": body.shipment_id}


def _number(name: str) -> int:
    """`charge_17` -> 17; -1, which no row has, for what is none of our ids."""
    digits = name.rpartition("_")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else -1


@dataclass(frozen=True, slots=True)
class Service:
    """One path: whose it is, what one thing made there is called, how to make it."""

    service: str
    kind: str
    body: type[_Body]
    act: Callable[[sqlite3.Connection, Any, Asked], dict[str, Any]]


SERVICES = {
    "/holds": Service("inventory", "hold", _HoldBody, _hold),
    "/releases": Service("inventory", "release", _ReleaseBody, _release),
    "/charges": Service("payments", "charge", _ChargeBody, _charge),
    "/refunds": Service("payments", "refund", _RefundBody, _refund),
    "/shipments": Service("shipping", "shipment", _ShipmentBody, _ship),
    "/cancellations": Service("shipping", "cancellation", _CancellationBody, _cancel),
}
