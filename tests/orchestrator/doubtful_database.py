"""A database whose COMMIT comes back with an error: after it has happened, or before it could."""

from __future__ import annotations

import random
import threading
from typing import Any

from saga.journal.backend import driver
from saga.journal.database import Database
from tests.databases import traced

__all__ = ["Doubt", "DoubtfulDatabase", "RandomlyDoubtful"]


class Doubt:
    """Which commits come back with an error.

    `next` holds "before", "after" or "fine" for the commits to come, and `only` makes it count only
    those of transactions that changed something in that table.
    """

    def __init__(self, *planned: str, only: str = "") -> None:
        self._guard = threading.Lock()
        self._planned = list(planned)
        self._only = only
        self.hit = 0

    def plan(self, *planned: str) -> None:
        """From now on."""
        with self._guard:
            self._planned = list(planned)

    def take(self, statements: list[str]) -> str:
        """What is to happen to the commit of these statements."""
        with self._guard:
            if not self._planned or not any(self._only in one for one in statements):
                return "fine"
            self.hit += 1
            return self._planned.pop(0)


class DoubtfulDatabase(Database):
    """Asks `given` at every commit of a write transaction."""

    given: Doubt

    def _connect(self) -> Any:
        connection = super()._connect()
        statements: list[str] = []
        traced(connection, statements)
        with _guard:
            _statements[id(connection)] = statements
        return connection

    def begin(self, connection: Any) -> None:
        _statements[id(driver(connection))].clear()
        super().begin(connection)

    def commit(self, connection: Any) -> None:
        doubt = getattr(self, "given", None)
        fate = doubt.take(_statements[id(driver(connection))]) if doubt else "fine"
        if fate == "before":
            raise self.backend.error("the commit failed")
        super().commit(connection)
        if fate == "after":
            raise self.backend.error("the answer to the commit was lost")


_statements: dict[int, list[str]] = {}
_guard = threading.Lock()


class RandomlyDoubtful(Database):
    """Three commits in ten come back with an error, half of them after they happened.

    Not the first one, the registration: an orchestrator that cannot register says so and ends.
    """

    given: random.Random
    _registered = False

    def commit(self, connection: Any) -> None:
        chance = self.given.random() if self._registered else 1.0
        self._registered = hasattr(self, "given")
        if chance < 0.15:
            raise self.backend.error("the commit failed")
        super().commit(connection)
        if chance < 0.3:
            raise self.backend.error("the answer to the commit was lost")
