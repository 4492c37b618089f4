"""Hints that somebody has written to the database. Correctness rests on the poll.

SQLite tells no other process about a commit, but a commit changes the times of its files. Ours do
too; `data_version` then says whether it was somebody else.
"""

from __future__ import annotations

import sqlalchemy as sa

from saga.journal.database import Database, driver

__all__ = ["Hints", "data_version"]

_SUSPECT_SECONDS = 1.0  # a file changes before its commit is durable and can be seen


class Hints:
    """Whether it is worth while to ask for the `data_version`."""

    def __init__(self, database: Database) -> None:
        self._files = (database.path, database.path.with_name(database.path.name + "-wal"))
        self._clock = database.clock
        self._seen: tuple[tuple[int, int], ...] = ()
        self._until = 0.0  # monotonic

    def changing(self) -> bool:
        """Whether the files have changed a short while ago: a commit may be seen any moment."""
        seen, now = self._look(), self._clock.monotonic()
        if seen != self._seen:
            self._seen, self._until = seen, now + _SUSPECT_SECONDS
        return now < self._until

    def _look(self) -> tuple[tuple[int, int], ...]:
        found = []
        for file in self._files:
            try:
                status = file.stat()
            except FileNotFoundError:
                continue
            found.append((status.st_mtime_ns, status.st_size))
        return tuple(found)


def data_version(connection: sa.Connection) -> int:
    """A number that changes when another connection than this one has committed."""
    return int(driver(connection).execute("PRAGMA data_version").fetchone()[0])
