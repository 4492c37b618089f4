"""The sagas with lists that are explored: one that holds all, one of which some items may fail."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from saga import Call, Each, Provider, Retry, Saga, Step, Undo, bind, input_of, item_of
from saga.testing import World

__all__ = ["crowd", "letters"]


class Mailing(BaseModel):
    """An input with a list."""

    text: str
    people: list[str]


class Letter(BaseModel):
    to: str
    text: str


class Posted(BaseModel):
    number: str


async def post(call: Call[Letter]) -> Posted:
    return Posted(number=f"{call.step} {call.item} to {call.args.to}")


async def recall(call: Undo[Letter, Posted]) -> None:
    """A receipt is that of its own item."""
    assert call.receipt.number == f"{call.step} {call.item} to {call.args.to}"


async def stamp(call: Call[Mailing]) -> Posted:
    return Posted(number=call.step)


async def unstamp(call: Undo[Mailing, Posted]) -> None:
    assert call.receipt.number == call.step


def letters(provider: Provider, *, probes: bool) -> tuple[Saga[Mailing], World, Mailing]:
    """Three letters, two at once; while one is unknown nothing is sent. Then the stamp."""
    world, given = World(), input_of(Mailing)
    posted = _each(world, given, provider, probes=probes, parallel=2)
    stamped = Step(
        "stamp",
        _effect(world, "stamp.put", stamp, provider, probes),
        args=given,
        compensation=_undo(world, "stamp.take", unstamp, provider, probes),
    )
    saga = Saga("letters", given, [posted, stamped])
    return saga, world, Mailing(text="hello", people=["ada", "bob", "cyd"])


def crowd(provider: Provider, *, probes: bool) -> tuple[Saga[Mailing], World, Mailing]:
    """Two letters, one after the other; one that fails is left out, an unknown one holds none."""
    world, given = World(), input_of(Mailing)
    loose: dict[str, Any] = {"optional": True, "on_unknown": "hold_item", "parallel": 1}
    posted = _each(world, given, provider, probes=probes, **loose)
    return Saga("crowd", given, [posted]), world, Mailing(text="hello", people=["ada", "bob"])


def _each(
    world: World, given: Mailing, provider: Provider, *, probes: bool, **more: Any
) -> Each[Letter, Posted]:
    name = item_of(given.people)
    return Each(
        "post",
        _effect(world, "letter.post", post, provider, probes),
        over=given.people,
        key=name,
        args=bind(Letter)(to=name, text=given.text),
        compensation=_undo(world, "letter.recall", recall, provider, probes),
        **more,
    )


def _effect(world: World, name: str, do: Any, provider: Provider, probes: bool) -> Any:  # noqa: FBT001
    return world.effect(name, do, provider=provider, probe=probes, retry=Retry(attempts=2))


def _undo(world: World, name: str, do: Any, provider: Provider, probes: bool) -> Any:  # noqa: FBT001
    return world.compensation(name, do, provider=provider, probe=probes, retry=Retry(attempts=2))
