"""A database that writes down every statement that the driver is given."""

from __future__ import annotations

from typing import Any

from saga.journal.database import Database
from tests.databases import traced

__all__ = ["TracedDatabase"]


class TracedDatabase(Database):
    """`given` is the list that the statements are added to, by all of its connections."""

    given: list[str]

    def _connect(self) -> Any:
        connection = super()._connect()
        traced(connection, _Noted(self))
        return connection


class _Noted(list[str]):
    """What is added to it is added to what the database has been given by then."""

    def __init__(self, database: TracedDatabase) -> None:
        super().__init__()
        self._database = database

    def append(self, statement: str) -> None:
        if hasattr(self._database, "given"):
            self._database.given.append(statement)
