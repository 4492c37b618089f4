"""Databases that fail when told to, and an orchestrator on a database of a test's own class."""

from __future__ import annotations

import threading
from typing import Any

import psycopg

from saga import App, Orchestrator
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sqlite import library

__all__ = ["BusyDatabase", "OnDatabase", "SmallDisk"]

# What each driver raises when it is worth while to begin the transaction anew.
_PASSING: dict[type[Exception], type[Exception]] = {
    library.Error: library.OperationalError,
    psycopg.Error: psycopg.errors.SerializationFailure,
}


class OnDatabase(Orchestrator):
    """An orchestrator on a database of another class; `given` is handed to it."""

    def __init__(
        self, app: App, url: str, *, database: type[Database], given: Any, **options: Any
    ) -> None:
        super().__init__(app, url, **options)
        self._database_type, self._given = database, given

    def _open(self) -> Database:
        database = self._database_type(self._url, self._keys, create=True, clock=self._clock)
        database.given = self._given  # type: ignore[attr-defined]
        return database


class BusyDatabase(Database):
    """Answers "database is locked" to the next `given[0]` write transactions."""

    given: list[int]
    _guard = threading.Lock()

    def begin(self, connection: Any) -> None:
        with self._guard:
            busy = getattr(self, "given", [0])[0] > 0
            if busy:
                self.given[0] -= 1
        if busy:
            raise _PASSING[self.backend.error]("database is locked")
        super().begin(connection)


class SmallDisk(Database):
    """While `given` is set, the file may not grow: SQLite itself says that the disk is full."""

    given: threading.Event

    def begin(self, connection: Any) -> None:
        full = hasattr(self, "given") and self.given.is_set()
        # A limit below the present size means the present size.
        driver(connection).execute(f"PRAGMA max_page_count={1 if full else 1_000_000}")
        super().begin(connection)
