"""The sagas of the storm: nine shapes, two with lists, at providers of four kinds and at a mixture.

The bounds are those of real providers in milliseconds. What keeps them is the provider itself, by
the deadline that each request carries, so that a busy machine breaks no promise.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    CannotSay,
    Compensation,
    Each,
    Effect,
    InProgress,
    Irreversible,
    NothingToUndo,
    NotSent,
    Provider,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
    item_of,
)
from saga.definition.keys import place_of
from saga.definition.tuning import UNDECLARED
from tests.hostile.moods import IN_FLIGHT, KEY_LIFE, LATE_UNTIL, TIMEOUT, VISIBLE_AFTER
from tests.hostile.wire import Line

__all__ = ["KINDS", "Job", "Order", "Proof", "act", "app", "find", "take_back", "take_back_blind"]

KINDS = {
    "both": Provider(
        "both",
        key_life=KEY_LIFE,
        in_flight=IN_FLIGHT,
        visible_after=VISIBLE_AFTER,
        late_until=LATE_UNTIL,
    ),
    "keys": Provider("keys", key_life=KEY_LIFE, late_until=LATE_UNTIL, replays_refusals=True),
    "asked": Provider(
        "asked", in_flight=IN_FLIGHT, visible_after=VISIBLE_AFTER, late_until=LATE_UNTIL
    ),
    "neither": UNDECLARED,
}
_PROBED = ("both", "asked")
# More resends than a key lives for: its life must be what ends them.
_PACE: dict[str, Any] = {
    "attempts": 4,
    "resends": 10,
    "first": 0.05,
    "longest": 0.4,
    "jitter": 0.05,
}
_RETRY, _RENEWS = Retry(**_PACE), Retry(**_PACE, generations=2)


class Order(BaseModel):
    """The input of a run. `items`: of the list, where its saga has one."""

    order: str
    items: list[str] = ["i", "j", "k", "l", "m"]


class Job(BaseModel):
    """What a step asks for. `kind` tells the provider which of its faces to show."""

    order: str
    kind: str
    item: str = ""


class Proof(BaseModel):
    """The receipt of everything here; it echoes key and digest."""

    receipt_id: str
    idempotency_key: str
    intent_digest: str


async def act(call: Call[Job]) -> Proof:
    """Apply an effect."""
    return await _acted(call, of_key=None)


async def take_back(call: Undo[Job, Proof]) -> Proof:
    """Take it back, by its receipt."""
    return await _acted(call, of_key=call.of_key, of_receipt=call.receipt.receipt_id)


async def take_back_blind(call: Undo[Job, Proof | None]) -> Proof:
    """Take back whatever stands under the key, where nobody could find a receipt."""
    receipt = call.receipt.receipt_id if call.receipt is not None else None
    return await _acted(call, of_key=call.of_key, of_receipt=receipt)


async def find(call: Call[Job]) -> Proof | Absent | InProgress | CannotSay:
    """Ask by key."""
    answer = await call.resource(Line).say({"do": "find", **_facts(call)})
    match answer["said"]:
        case "done":
            return Proof(**answer["receipt"])
        case "absent":
            return Absent()
        case "in_progress":
            return InProgress()
        case other:
            return CannotSay(str(other))


async def _acted(call: Call[Job], **more: Any) -> Proof:
    answer = await call.resource(Line).say({"do": "act", **_facts(call), **more})
    match answer["said"]:
        case "done":
            return Proof(**answer["receipt"])
        case "refused":
            raise Refused("the provider said no")
        case "busy":
            raise NotSent("not now", retry_after=0.05)
        case other:
            raise RuntimeError(f"the provider said {other}")


def _facts(call: Call[Job]) -> dict[str, Any]:
    return {
        "key": call.key,
        "digest": call.digest,
        "run": call.run_id,
        "step": call.step,
        "place": place_of(call.step, call.item),
        "attempt": call.attempt,
        "deadline": call.deadline.timestamp(),
        "kind": call.args.kind,
    }


@dataclass(frozen=True)
class _Maker:
    """Makes the steps of one saga."""

    name: str
    order: Order
    kinds: Sequence[str]

    def step(
        self,
        name: str,
        after: Sequence[Step[Any, Any]] | None = None,
        *,
        undo: str = "by receipt",
        **more: Any,
    ) -> Step[Job, Proof]:
        """`undo`: by receipt, blind, nothing or never."""
        kind, effect, compensation = self._contracts(name, undo)
        return Step(
            name,
            effect,
            args=bind(Job)(order=self.order.order, kind=kind),
            compensation=compensation,
            after=after,
            **more,
        )

    def each(self, name: str, *, undo: str = "by receipt", **more: Any) -> Each[Job, Proof]:
        """The same for every item of the order."""
        kind, effect, compensation = self._contracts(name, undo)
        item = item_of(self.order.items)
        return Each(
            name,
            effect,
            over=self.order.items,
            key=item,
            args=bind(Job)(order=self.order.order, kind=kind, item=item),
            compensation=compensation,
            **more,
        )

    def _contracts(self, name: str, undo: str) -> tuple[str, Effect[Job, Proof], Any]:
        """The kind of provider, the effect there, and what takes it back."""
        at = ord(name[0]) - ord("a")
        kind = self.kinds[at % len(self.kinds)]
        facts: dict[str, Any] = {
            "probe": find if kind in _PROBED else None,
            "timeout": TIMEOUT,
            "provider": KINDS[kind],
            "retry": _RENEWS if at % 2 else _RETRY,
        }
        functions: dict[str, Callable[..., Any]] = {
            "by receipt": take_back,
            "blind": take_back_blind,
        }
        compensation: Any = NothingToUndo("reads only")
        if undo == "never":
            compensation = Irreversible("cannot be unsent")
        elif undo in functions:
            compensation = Compensation(f"{self.name}.undo-{name}", functions[undo], **facts)
        return kind, Effect(f"{self.name}.{name}", act, **facts), compensation


def _one(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a")]


def _two(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a", undo="blind"), make.step("b", undo="blind")]


def _three(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a"), make.step("b", hold=False), make.step("c", undo="blind")]


def _fork(make: _Maker) -> list[Step[Any, Any]]:
    a = make.step("a")
    b, c = make.step("b", [a]), make.step("c", [a], undo="blind")
    return [a, b, c, make.step("d", [b, c])]


def _optional(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a"), make.step("b", optional=True), make.step("c", undo="nothing")]


def _pivot(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a"), make.step("b", pivot=True), make.step("c", undo="nothing")]


def _mail(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a"), make.step("b", undo="blind"), make.step("c", undo="never")]


def _list(make: _Maker) -> list[Step[Any, Any]]:
    return [make.step("a"), make.each("b", parallel=4), make.step("c", undo="blind")]


def _crowd(make: _Maker) -> list[Step[Any, Any]]:
    """An item that fails is left out, and one that is unknown holds only itself."""
    loose = make.each("a", undo="blind", optional=True, on_unknown="hold_item", parallel=3)
    return [loose, make.each("b", parallel=2, batch=2)]


_SHAPES = (_one, _two, _three, _fork, _optional, _pivot, _mail, _list, _crowd)


def app(port: int) -> App:
    """All sagas, with a line to the provider at a port."""

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[list[object]]:
        line = Line(port)
        try:
            yield [line]
        finally:
            line.close()

    mixtures = {**{kind: (kind,) for kind in KINDS}, "mixed": ("both", "asked", "keys")}
    sagas = []
    for shape in _SHAPES:
        for mixture, kinds in mixtures.items():
            order, name = input_of(Order), f"{shape.__name__[1:]}-{mixture}"
            sagas.append(Saga(name, order, shape(_Maker(name, order, kinds))))
    return App(*sagas, lifespan=lifespan)
