"""A saga and its variants: what may change in a definition, one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field

from saga import (
    IDEMPOTENT,
    Absent,
    Compensation,
    Effect,
    Irreversible,
    NothingToUndo,
    Provider,
    Retry,
    Saga,
    Step,
    bind,
    input_of,
)


class Item(BaseModel):
    sku: str


class Order(BaseModel):
    id: str
    other: str
    item: Item


class Args(BaseModel):
    order_id: str
    item: Item
    currency: str = "EUR"


class Receipt(BaseModel):
    receipt_id: str


def build(
    *,
    order: Any = Order,
    args: Any = Args,
    receipt: Any = Receipt,
    binding: Callable[[Any], dict[str, Any]] = lambda o: {"order_id": o.id, "item": o.item},
    effect: dict[str, Any] | None = None,
    undo: dict[str, Any] | None = None,
    compensation: Any = None,
    step: dict[str, Any] | None = None,
    names: tuple[str, ...] = ("one", "two"),
    optional_receipt: bool = False,
    **saga: Any,
) -> Saga[Any]:
    the_input = input_of(order)
    do = Effect(
        **(
            {"name": "do", "do": lambda call: None, "args": args, "receipt": receipt}
            | (effect or {})
        )
    )
    back: Compensation[Any, Any] = Compensation(
        **(
            {
                "name": "undo",
                "do": lambda call: None,
                "args": args,
                "receipt": receipt | None if optional_receipt else receipt,
            }
            | (undo or {})
        )
    )
    steps = [
        Step(
            name,
            do,
            args=bind(args)(**binding(the_input)),
            compensation=compensation or back,
            **(step or {}),
        )
        for name in names
    ]
    return Saga(**({"name": "s", "input": the_input, "steps": steps} | saga))


class RenamedItem(BaseModel):
    """Another class of the same fields."""

    sku: str = Field(max_length=9, description="what")


class RenamedOrder(BaseModel):
    id: str
    other: str
    item: RenamedItem


class RenamedArgs(BaseModel):
    """Another class of the same fields and the same default."""

    order_id: str
    item: RenamedItem
    currency: str = "EUR"


SAME: dict[str, dict[str, Any]] = {
    "timeout": {"effect": {"timeout": 5}},
    "retry": {"effect": {"retry": Retry(attempts=9)}, "undo": {"retry": Retry(attempts=1)}},
    "provider": {"effect": {"provider": IDEMPOTENT}, "undo": {"provider": Provider("p")}},
    "probe": {"effect": {"probe": lambda call: Absent()}, "undo": {"probe": lambda call: Absent()}},
    "deadline": {"deadline": 60},
    "undo deadline": {"undo": {"deadline": 60}},
    "titles": {"title": "Saga", "step": {"title": "Step"}},
    "exceptions": {"effect": {"refused": [KeyError]}},
    "function": {"effect": {"do": lambda call: 1}},
    "class names": {"order": RenamedOrder, "args": RenamedArgs},
}


class MoreOrder(Order):
    more: str = ""


class IntOrder(BaseModel):
    id: str
    other: int
    item: Item


class DollarArgs(Args):
    currency: str = "USD"


class IntReceipt(BaseModel):
    receipt_id: int


class OptionalItem(BaseModel):
    sku: str | None


class OptionalOrder(BaseModel):
    id: str
    other: str
    item: OptionalItem


class OptionalArgs(BaseModel):
    order_id: str
    item: OptionalItem
    currency: str = "EUR"


OTHER: dict[str, dict[str, Any]] = {
    "saga name": {"name": "t"},
    "saga version": {"version": 2},
    "step name": {"names": ("one", "three")},
    "step order": {"names": ("two", "one")},
    "step added": {"names": ("one", "two", "three")},
    "step removed": {"names": ("one",)},
    "hold": {"step": {"hold": False}},
    "effect name": {"effect": {"name": "do.it"}},
    "effect version": {"effect": {"version": 2}},
    "target": {"effect": {"target": ["order_id"]}},
    "undo name": {"undo": {"name": "undo.it"}},
    "undo version": {"undo": {"version": 2}},
    "needs receipt": {"optional_receipt": True},
    "nothing to undo": {"compensation": NothingToUndo("reads only")},
    "irreversible": {"compensation": Irreversible("sent"), "names": ("one",)},
    "binding": {"binding": lambda o: {"order_id": o.other, "item": o.item}},
    "literal": {"binding": lambda o: {"order_id": "x", "item": o.item}},
    "nested binding": {"binding": lambda o: {"order_id": o.id, "item": bind(Item)(sku=o.id)}},
    "fixed default": {"args": DollarArgs},
    "input field added": {"order": MoreOrder},
    "input field type": {"order": IntOrder},
    "receipt field type": {"receipt": IntReceipt},
    "nested field type": {"order": OptionalOrder, "args": OptionalArgs},
}
