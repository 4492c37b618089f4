"""A database that writes down every statement that SQLite itself is given, values filled in."""

from __future__ import annotations

from typing import Any

from saga.journal.database import Database

__all__ = ["TracedDatabase"]


class TracedDatabase(Database):
    """`given` is the list that the statements are added to, by all of its connections."""

    given: list[str]

    def _connect(self) -> Any:
        connection = super()._connect()
        connection.set_trace_callback(self._note)
        return connection

    def _note(self, statement: str) -> None:
        if hasattr(self, "given"):
            self.given.append(statement)
