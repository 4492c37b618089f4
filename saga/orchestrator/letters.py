"""Letters: what became known about a run, on its way to being decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from saga.machine.commands import Command, Lost, Reply
from saga.machine.facts import Error

__all__ = ["Letter", "first", "lost", "not_made"]

# What becomes of so many actions, cases included, fits one record unless receipts are large.
_MOST = 48


class Letter(NamedTuple):
    """A command that waits for the time at which it will be decided.

    `attempt` is the (key, number) whose reply it brings, `asked` the key whose probe it answers, if
    it does. `weight`: of how many actions it tells.
    """

    command: Callable[[float], Command]
    attempt: tuple[str, int] | None = None
    asked: str | None = None
    weight: int = 1


def first(mailbox: Sequence[Letter]) -> int:
    """How many letters, the oldest first, are decided together: at least one."""
    count = weight = 0
    for letter in mailbox:
        weight += letter.weight
        if count and weight > _MOST:
            break
        count += 1
    return count


def lost(keys: Sequence[str]) -> list[Letter]:
    """The owner that made these calls is gone; told in parts that fit a record."""
    parts = [frozenset(keys[i : i + _MOST]) for i in range(0, len(keys), _MOST)]
    return [Letter(partial(_lost, part), weight=len(part)) for part in parts]


def _lost(keys: frozenset[str], at: float) -> Lost:
    return Lost(at=at, keys=keys)


def not_made(key: str, attempt: int) -> Letter:
    """The call of an attempt was never begun: it provably did nothing."""
    error: Error = {"type": "NotSent", "text": "the call was never made", "leaves": []}
    return Letter(
        lambda at: Reply(at=at, key=key, attempt=attempt, result="not_sent", error=error),
        attempt=(key, attempt),
    )
