"""Between two looks at the database: signs that it is worth while to look before the poll."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from saga.clock import Clock
from saga.journal.backend import Hints
from saga.journal.database import Database
from saga.orchestrator.nap import Nap

__all__ = ["HintsOf", "Lookout"]

HintsOf: TypeAlias = Callable[[Database], Hints]

_TICK_SECONDS = 0.005  # between two looks at signs while somebody writes
_EAGER_SECONDS = 0.001  # the same with nothing to do: the next run may be there any moment
_REST_SECONDS = 0.05  # the longest rest between two looks at the database that signs ask for


class Lookout:
    """Waits for signs. `ask` runs work on the writer's thread, with its connection."""

    def __init__(
        self, hints: Hints, clock: Clock, ask: Callable[[Callable[[Any], int]], Awaitable[int]]
    ) -> None:
        self._hints, self._clock, self._ask = hints, clock, ask
        self._nap = Nap()
        self._version = 0
        self._changing = False
        self._rested_at = 0.0  # monotonic

    async def begin(self) -> None:
        """What was written until now is not news."""
        self._version = await self._ask(self._hints.version)

    def looked(self, began: float) -> None:
        """The database has been looked at, since `began` (monotonic)."""
        self._hints.caught_up()
        self._changing = self._hints.changing()
        # However much others write, looking takes half of our time at the most.
        ended = self._clock.monotonic()
        self._rested_at = ended + min(ended - began, _REST_SECONDS)

    async def nap(self, seconds: float, *, eager: bool) -> bool:
        """For so long at most; whether to ask if others wrote. `eager`: there is nothing to do."""
        bell = None if self._changing else self._hints.descriptor
        if self._changing:
            tick = _EAGER_SECONDS if eager else _TICK_SECONDS
        elif eager and bell is not None:
            tick = seconds  # whatever else may happen wakes us
        else:
            tick = self._hints.patience
        await self._nap.take(min(tick, seconds), bell)
        self._changing = self._hints.changing()
        return self._changing and self._clock.monotonic() >= self._rested_at

    async def others_wrote(self) -> bool:
        """Whether a commit was not ours. The signs alone do not say whose it was."""
        before, self._version = self._version, await self._ask(self._hints.version)
        return self._version != before

    def wake(self) -> None:
        """End the nap."""
        self._nap.end()

    def close(self) -> None:
        """Look at nothing any more."""
        self._hints.close()
