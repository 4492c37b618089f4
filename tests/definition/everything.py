"""A model with a field of every type that JSON holds exactly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    computed_field,
)

from saga import Call, Compensation, Effect, NothingToUndo, Saga, Step, input_of

SECRET = "4242 4242 4242"


class Size(Enum):
    SMALL = 1


@dataclass
class Point:
    x: Decimal


class Lax(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = "n"
    inner: Any = None


class Everything(BaseModel):
    model_config = ConfigDict(strict=True)
    text: str = "t"
    count: int = 10**40
    amount: Decimal = Decimal("1.10")
    ratio: float = 0.1
    flag: bool = True
    when: datetime = datetime(
        2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=5, minutes=30))
    )
    day: date = date(2026, 1, 2)
    clock: time = time(1, 2, 3)
    span: timedelta = timedelta(seconds=90)
    id: UUID = UUID(int=7)
    size: Size = Size.SMALL
    raw: bytes = b"abc"
    point: Point = Point(Decimal("2.50"))
    items: list[Decimal] = [Decimal("1E+2")]
    by_number: dict[int, str] = {1: "a"}
    pair: tuple[int, str] = (1, "x")
    none: str | None = None
    lax: Lax = Lax()
    alias: str = Field(default="a", alias="theAlias")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def computed(self) -> str:
        return self.text * 2


def echo(call: Call[Everything]) -> Everything:
    return call.args


everything = input_of(Everything)
effect = Effect("echo", echo)
step = Step("echo", effect, args=everything, compensation=NothingToUndo("a test"))
saga = Saga("everything", everything, [step])
undo = Compensation("undo", lambda call: None, args=Everything, receipt=Everything)

EXACT = {
    "text": "t",
    "count": 10**40,
    "amount": "1.10",
    "ratio": 0.1,
    "flag": True,
    "when": "2026-01-02T03:04:05.000006+05:30",
    "day": "2026-01-02",
    "clock": "01:02:03",
    "span": "PT1M30S",
    "id": "00000000-0000-0000-0000-000000000007",
    "size": 1,
    "raw": "abc",
    "point": {"x": "2.50"},
    "items": ["1E+2"],
    "by_number": {"1": "a"},
    "pair": [1, "x"],
    "none": None,
    "lax": {"name": "n", "inner": None},
    "alias": "a",
}
