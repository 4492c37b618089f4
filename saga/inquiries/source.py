"""The database of a client: opened when it is first needed, once in every process.

Constructing it touches no file. A child after a fork opens its own; any thread may ask.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from saga.clock import Clock
from saga.ids import Ids
from saga.journal.database import Database
from saga.journal.definitions import Specs, reading
from saga.journal.sealing import Keyring

__all__ = ["Source"]

T = TypeVar("T")


class Source:
    """One URL with its keys."""

    def __init__(self, url: str, keys: Keyring, clock: Clock, ids: Ids) -> None:
        self.url = url
        self.keys = keys
        self.clock = clock
        self._ids = ids
        self._read_spec = reading(keys)
        self._lock = threading.Lock()
        self._opened: tuple[int, Database] | None = None  # (process, database)

    def database(self, *, create: bool = False) -> Database:
        """The database, opened; made only if `create`. Raises `DatabaseError`."""
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                database = Database(
                    self.url, self.keys, create=create, clock=self.clock, ids=self._ids
                )
                self._opened = (os.getpid(), database)
            return self._opened[1]

    def read(self, work: Callable[[Any], T]) -> T:
        """Run `work` with a connection in a read transaction."""
        return self.database().read(work)

    def glance(self, work: Callable[[Any], T]) -> T:
        """The same where nothing holds several statements together, and nothing has to."""
        return self.database().glance(work)

    def specs(self) -> Specs:
        """The stored specifications: whoever owns no run decides with those."""
        return Specs(self.keys, read=self._read_spec)

    def now(self) -> float:
        """The time of the database in unix seconds."""
        return self.database().now()

    def close(self) -> None:
        """Give back the connections; the next question opens it again."""
        with self._lock:
            if self._opened is not None and self._opened[0] == os.getpid():
                self._opened[1].close()
            self._opened = None
