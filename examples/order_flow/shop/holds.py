"""Requests that wait: before acting, after acting, or on a slow way to the shop.

A held request lives here, not in its connection: its client may die, it goes on all the same once
it is released, as behind any real load balancer.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from examples.order_flow.shop.ledger import Asked

__all__ = ["HangUp", "Holds"]

_Place = Literal["request", "answer", "late"]


class HangUp(Exception):
    """No answer: close the connection, or stay `silent` until the client gives up."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__()
        self.silent = silent


@dataclass(frozen=True)
class _Held:
    """One request at the place where it waits."""

    number: int
    asked: Asked
    place: _Place
    since: float
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def shown(self) -> dict[str, object]:
        asked = self.asked
        return {
            "id": self.number,
            "place": self.place,
            "path": asked.path,
            "method": asked.method,
            "key": asked.key,
            "run_id": asked.run_id,
            "step": asked.step,
            "of_key": asked.of_key,
            "since": self.since,
        }


class Holds:
    """All requests that wait now."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self._numbers = 0
        self._changed = asyncio.Condition()
        self._closed = False

    async def wait(self, asked: Asked, place: _Place, seconds: float | None = None) -> None:
        """Wait until released, or for `seconds`; `HangUp` once the shop is closing."""
        self._numbers += 1
        held = _Held(self._numbers, asked, place, time.time())
        self._held[held.number] = held
        async with self._changed:
            self._changed.notify_all()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await held.gate.wait()
        finally:
            del self._held[held.number]
        if self._closed:
            raise HangUp

    async def shown(self, *, run_id: str | None, wait: float) -> list[dict[str, object]]:
        """What is held now; waits up to `wait` seconds until something is."""

        def found() -> list[dict[str, object]]:
            held = [held.shown() for held in self._held.values()]
            return [one for one in held if run_id in (None, one["run_id"])]

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait), self._changed:
                await self._changed.wait_for(lambda: bool(found()))
        return found()

    def release(self, wanted: Mapping[str, object]) -> int:
        """Let go what matches (`id`, `run_id`, `key`, `place`; nothing: all); how many."""
        gone = [held for held in self._held.values() if wanted.items() <= held.shown().items()]
        for held in gone:
            held.gate.set()
        return len(gone)

    def close(self) -> None:
        """Give up everything that waits: it does not act any more."""
        self._closed = True
        self.release({})
