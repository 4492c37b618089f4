"""Timers: when to look at a run again, one for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from saga.clock import Clock

__all__ = ["Timers"]

_OVERDUE_SECONDS = 1.0


class Timers:
    """`ring` is called on the event loop with the id of a run whose time has come."""

    def __init__(self, clock: Clock, ring: Callable[[str], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._set: dict[str, asyncio.TimerHandle] = {}

    def set(self, run_id: str, due: float | None) -> None:
        """Ring at `due` (unix seconds) and no sooner; `None`: do not ring."""
        self.drop(run_id)
        if due is None:
            return
        # Something that is due and blocked, or in flight beyond its time, is looked at each second.
        wait = due - self._clock.now()
        delay = wait if wait > 0 else _OVERDUE_SECONDS
        self._set[run_id] = self._loop.call_later(delay, self._ring, run_id)

    def drop(self, run_id: str) -> None:
        """Forget the timer of a run."""
        if (timer := self._set.pop(run_id, None)) is not None:
            timer.cancel()

    def clear(self) -> None:
        """Forget all of them."""
        for timer in self._set.values():
            timer.cancel()
        self._set.clear()
