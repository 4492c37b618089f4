"""A saga whose receipts are deep, and whose functions write down what they are called with.

s1 gives a nested receipt, s2 is given it and changes it in memory, s3 waits once and then refuses.
The undo of s2 needs the input and the receipt of s1 too: they are bound into the arguments of s2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from saga import (
    App,
    Call,
    Compensation,
    Effect,
    NothingToUndo,
    NotSent,
    Refused,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
)
from saga.definition.canonical import canonical
from tests.cases.ledger import Ledger, name_of
from tests.cases.scripted import lifespan

__all__ = ["GIVEN", "RECEIPT", "Order", "app"]


class Item(BaseModel):
    sku: str
    parts: list[str]
    note: str | None


class Deep(BaseModel):
    """What s1 gives back: three levels, an empty list, null, digits as text, other scripts."""

    name: str
    serial: str
    empty: list[str]
    nothing: str | None
    items: list[Item]


class Order(BaseModel):
    customer: str
    amount: int


class Second(BaseModel):
    """The arguments of s2: the whole input, and the receipt of s1."""

    order: Order
    before: Deep


class Small(BaseModel):
    count: int


GIVEN: dict[str, Any] = {"customer": "Zoë 漢字", "amount": 12345678901234567890}
RECEIPT: dict[str, Any] = {
    "name": "häuser\u2028 \U0001f600",
    "serial": "123456789012345678901234567890.10",
    "empty": [],
    "nothing": None,
    "items": [
        {"sku": "a", "parts": ["1", "2"], "note": None},
        {"sku": "b", "parts": [], "note": "\\u0000 stays six characters"},
    ],
}


async def _first(call: Call[Order]) -> Deep:
    call.resource(Ledger).land(call)
    return Deep.model_validate(RECEIPT)


async def _second(call: Call[Second]) -> Small:
    call.resource(Ledger).land(call)
    call.args.before.items.clear()
    call.args.before.name = "changed in memory"
    call.args.order.amount = 0
    return Small(count=2)


async def _third(call: Call[Order]) -> Small:
    if call.attempt == 1:
        raise NotSent("not yet", retry_after=0.3)
    raise Refused("no")


async def _take_back(call: Undo[Any, Any]) -> None:
    plain = {"args": call.args.model_dump(), "receipt": call.receipt.model_dump()}
    call.resource(Ledger).land(call)
    call.resource(Ledger).note("given", name=name_of(call), text=canonical(plain))


def app(folder: str) -> App:
    """The saga as an app; its outside is the ledger in `folder`."""
    order = input_of(Order)
    undo = Compensation("take-back", _take_back, args=BaseModel, receipt=BaseModel)
    first = Step("s1", Effect("first", _first), args=order, compensation=undo)
    second = Step(
        "s2",
        Effect("second", _second),
        args=bind(Second)(order=order, before=first.receipt),
        compensation=undo,
    )
    third = Step(
        "s3", Effect("third", _third), args=order, compensation=NothingToUndo("it is refused")
    )
    return App(Saga("deep", order, [first, second, third]), lifespan=lifespan(str(Path(folder))))
