"""What the floors write to: a file of SQLite, or a database of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.floor import Rows, names
from saga.journal.postgres import connect, parameters
from saga.journal.sqlite import library, safe_wal

__all__ = ["FileStore", "ServerStore"]

_TABLES = """
CREATE TABLE runs (saga TEXT PRIMARY KEY, phase TEXT, version {whole}, owner TEXT, due_at {real});
CREATE INDEX claims ON runs (due_at) WHERE owner IS NULL AND due_at IS NOT NULL;
CREATE TABLE journal (saga TEXT, seq {whole}, at {real}, body TEXT, PRIMARY KEY (saga, seq)) {last};
CREATE TABLE actions (key TEXT PRIMARY KEY, saga TEXT, state TEXT, intent TEXT, receipt TEXT);
CREATE INDEX actions_of ON actions (saga);
"""
_ROWS = (
    "UPDATE runs SET phase = ?, version = ?, due_at = ? WHERE saga = ? AND version = ?",
    "INSERT INTO journal VALUES (?, ?, ?, ?)",
    "UPDATE actions SET state = ?, receipt = ? WHERE key = ?",
    "INSERT INTO actions VALUES (?, ?, ?, ?, ?)",
)
_ARRAYS = (
    """UPDATE runs SET phase = n.phase, version = n.version, due_at = n.due
    FROM unnest(%s::text[], %s::int8[], %s::float8[], %s::text[], %s::int8[])
        AS n (phase, version, due, saga, expected)
    WHERE runs.saga = n.saga AND runs.version = n.expected""",
    "INSERT INTO journal SELECT * FROM unnest(%s::text[], %s::int8[], %s::float8[], %s::text[])",
    """UPDATE actions SET state = n.state, receipt = n.receipt
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS n (state, receipt, key)
    WHERE actions.key = n.key""",
    """INSERT INTO actions
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])""",
)


class FileStore:
    """A file, in the mode that saga would give it."""

    def __init__(self, path: Path, count: int) -> None:
        self._connection: Any = library.connect(
            str(path), isolation_level=None, check_same_thread=False
        )
        wal = safe_wal(library.sqlite_version_info)
        self._connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'TRUNCATE'}")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.executescript(
            _TABLES.format(whole="INTEGER", real="REAL", last="WITHOUT ROWID")
        )
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO runs VALUES (?, 'running', 1, 'floor', 0)", zip(names(count))
        )
        self._connection.execute("COMMIT")

    def execute(self, batch: Sequence[Rows]) -> None:
        """See `Store`."""
        self._connection.execute("BEGIN IMMEDIATE")
        for statement, rows in zip(_ROWS, zip(*batch, strict=True), strict=True):
            self._connection.executemany(statement, [row for row in rows if row])
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Nothing more is written."""
        self._connection.close()


class ServerStore:
    """A database of a server: many rows in one statement, a transaction in one round trip."""

    def __init__(self, url: str, count: int) -> None:
        self._connection = connect(parameters(url))
        self._connection.prepare_threshold = 0
        for statement in _TABLES.format(whole="int8", real="float8", last="").split(";"):
            if statement.strip():
                self._connection.execute(statement, prepare=False)
        self._connection.execute(
            "INSERT INTO runs SELECT saga, 'running', 1, 'floor', 0 FROM unnest(%s::text[]) saga",
            [names(count)],
        )

    def execute(self, batch: Sequence[Rows]) -> None:
        """See `Store`."""
        with self._connection.pipeline():
            self._connection.execute("BEGIN", prepare=False)
            for statement, rows in zip(_ARRAYS, zip(*batch, strict=True), strict=True):
                if given := [row for row in rows if row]:
                    columns = zip(*given, strict=True)
                    self._connection.execute(statement, [list(column) for column in columns])
            self._connection.execute("COMMIT", prepare=False)

    def close(self) -> None:
        """Nothing more is written."""
        self._connection.close()
