"""Letters: what became known about a run, on its way to being decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from saga.machine.commands import Command, Reply
from saga.machine.facts import Error

__all__ = ["Letter", "not_made"]


class Letter(NamedTuple):
    """A command that waits for the time at which it will be decided.

    `attempt` is the (key, number) whose reply it brings, if it brings one.
    """

    command: Callable[[float], Command]
    attempt: tuple[str, int] | None = None


def not_made(key: str, attempt: int) -> Letter:
    """The call of an attempt was never begun: it provably did nothing."""
    error: Error = {"type": "NotSent", "text": "the call was never made", "leaves": []}
    return Letter(
        lambda at: Reply(at=at, key=key, attempt=attempt, result="not_sent", error=error),
        attempt=(key, attempt),
    )
