"""Whose turn it is: asked at every look by whoever runs an exclusive saga.

Where many wait for many resources the question costs time while we hold the turn to write. Then it
is asked less often, unless a run of ours has just given a resource free.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from saga.clock import Clock
from saga.definition.spec import SagaSpec
from saga.journal.turns import next_in_turn

__all__ = ["Turns"]

_CHEAP_SECONDS = 0.005
_SHARE = 10  # of our time, at most one part in so many


class Turns:
    """`next` is for the writer's thread, in its write transaction."""

    def __init__(self, clock: Clock, specs: Mapping[str, SagaSpec]) -> None:
        self.freed = False  # we may have given a resource free
        self._clock = clock
        self._digests = [name for name, spec in specs.items() if spec.exclusive is not None]
        self._at = 0.0  # monotonic

    def next(self, connection: Any, skip: Collection[str], room: int) -> list[str]:
        """At most `room` runs that may take their turn now, with the claim."""
        began = self._clock.monotonic()
        if not self._digests or room <= 0 or (began < self._at and not self.freed):
            return []
        found = next_in_turn(connection, self._digests, skip, room)
        spent = self._clock.monotonic() - began
        self._at = began + (spent * _SHARE if spent > _CHEAP_SECONDS else 0.0)
        self.freed = len(found) >= room  # there may be more
        return found
