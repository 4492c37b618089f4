"""The watchman's round: every run is verified in its turn, a few a second, the ended ones too.

Whoever alters a row may hide a run from those who claim. A claim verifies only what it finds; the
round finds the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga.definition.spec import SagaSpec
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.verify import patrol

__all__ = ["Round"]

_SECONDS = 1.0  # between two steps of the round
_RUNS = 20  # of one step
_PAUSE_SECONDS = 60.0  # after a whole round


class Round:
    """Where the watchman is. `step` is for the writer's thread, in its write transaction."""

    def __init__(self, database: Database, specs: Mapping[str, SagaSpec]) -> None:
        self._database = database
        self._specs = Specs(database.keys, specs)
        self._after: str | None = None
        self._at = 0.0  # monotonic

    def step(self, connection: Any) -> None:
        """Verify the next runs, if it is time."""
        clock = self._database.clock
        if clock.monotonic() < self._at:
            return
        self._after = patrol(
            connection,
            self._database.keys,
            self._specs,
            after=self._after,
            limit=_RUNS,
            now=self._database.now(),
        )
        self._at = clock.monotonic() + (_SECONDS if self._after is not None else _PAUSE_SECONDS)
