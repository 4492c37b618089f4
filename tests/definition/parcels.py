"""A parcel with fields of every kind, for the tests of bindings."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, Field

from saga import (
    Call,
    Effect,
    NothingToUndo,
    Step,
    bind,
    input_of,
)
from saga.definition import arguments

DRAWN: list[int] = []


def draw() -> int:
    DRAWN.append(len(DRAWN))
    return DRAWN[-1]


class Colour(StrEnum):
    RED = "red"


class Place(BaseModel):
    street: str
    floor: int | None = None


class Line(BaseModel):
    sku: str
    quantity: int = Field(default=1, ge=1)


class Order(BaseModel):
    id: str
    total: Decimal
    place: Place
    second: Place | None = None
    lines: list[Line]
    note: str | None = None
    meta: dict[str, Any] = {}


class Parcel(BaseModel):
    order_id: str
    place: Place
    lines: list[Line] = []
    labels: list[str] = []
    facts: dict[str, str] = {}
    note: str | None = None
    street: str = ""
    weight: Decimal = Decimal("1.0")
    colour: Colour = Colour.RED
    speed: Literal["slow", "fast"] = "slow"
    when: datetime | None = None
    number: int = Field(default_factory=draw)
    anything: Any = None


class Sent(BaseModel):
    tracking: str
    place: Place


order = input_of(Order)
untyped_bind: Any = bind  # for what a type checker would already refuse


def send(call: Call[Parcel]) -> Sent:
    raise NotImplementedError


send_parcel = Effect("parcel.send", send)
PLACE = {"street": "Mill Lane", "floor": 3}
INPUT: dict[str, Any] = {
    "id": "o1",
    "total": "12.50",
    "place": PLACE,
    "second": None,
    "lines": [{"sku": "a", "quantity": 2}],
    "note": None,
    "meta": {"deep": [{"x": 1}]},
}


def step(name: str = "send", **fields: Any) -> Step[Any, Any]:
    given: dict[str, Any] = {"order_id": order.id, "place": order.place} | fields
    return Step(name, send_parcel, args=bind(Parcel)(**given), compensation=NothingToUndo("a test"))


def binding(**fields: Any) -> Any:
    return step(**fields).args.binding["fields"]


def made(input: Any = INPUT, **fields: Any) -> Any:  # noqa: A002
    return arguments(step(**fields), input, {})
