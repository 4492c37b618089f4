"""The shop's own database: what landed, what was answered under which key, what it all belongs to.

Rules that hold here:

- Every effect that lands is one row of `effects`, in landing order, written in the same transaction
  as the business row it made and the answer kept under its key. A killed shop has all or nothing.
- Only keys protect. A second refund under another key is a second row, for a judge to see.
- This file is the outside world's word. Nobody but the shop writes it; `read_effects` and
  `read_ledger` look at it from another process while the shop runs or after it died.

`synchronous=OFF`: what is committed survives the death of the process, not of the machine.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Answer", "Asked", "Ledger", "brief", "read_effects", "read_ledger"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, run_id TEXT NOT NULL,
  step TEXT NOT NULL, of_key TEXT, service TEXT NOT NULL, kind TEXT NOT NULL,
  digest TEXT NOT NULL, receipt TEXT NOT NULL, at REAL NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS effects_by_key ON effects (key, kind);
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, digest TEXT NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL,
  at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS stock (
  sku TEXT PRIMARY KEY, free INTEGER NOT NULL CHECK (free >= 0), held INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS holds (
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, order_id TEXT NOT NULL,
  sku TEXT NOT NULL, quantity INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS releases (
  id INTEGER PRIMARY KEY AUTOINCREMENT, hold INTEGER REFERENCES holds, hold_key TEXT) STRICT;
CREATE TABLE IF NOT EXISTS charges (
  id INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT NOT NULL, amount TEXT NOT NULL,
  payment_method TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS refunds (
  id INTEGER PRIMARY KEY AUTOINCREMENT, charge INTEGER NOT NULL REFERENCES charges,
  amount TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS shipments (
  id INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT NOT NULL, hold_id TEXT NOT NULL,
  address TEXT NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cancellations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, shipment INTEGER NOT NULL REFERENCES shipments) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a service: what was asked, under which key, for whom."""

    method: str
    path: str
    key: str
    run_id: str = ""
    step: str = ""
    of_key: str | None = None
    intent_digest: str | None = None
    body: dict[str, Any] | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. `headers` are those beyond the content type."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, status: int, value: object, **headers: str) -> Answer:
        named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
        return cls(status, json.dumps(value).encode(), named)

    @classmethod
    def error(cls, status: int, code: str, message: str = "", **headers: str) -> Answer:
        return cls.of(status, {"error": {"code": code, "message": message}}, **headers)


class Ledger:
    """The one connection of the shop to its file."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.db.row_factory = sqlite3.Row
        # No WAL: old SQLite libraries lose data there when two processes share the file.
        self.db.execute("PRAGMA journal_mode=TRUNCATE")
        self.db.execute("PRAGMA synchronous=OFF")
        self.db.execute("PRAGMA foreign_keys=ON")
        self.db.executescript(_SCHEMA)

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def answered(self, key: str, *, since: float) -> tuple[str, Answer] | None:
        """The request digest and the answer kept under `key`, unless it is older than `since`."""
        row = self.db.execute(
            "SELECT digest, status, body FROM answers WHERE key = ? AND at > ?", (key, since)
        ).fetchone()
        return None if row is None else (row["digest"], Answer(row["status"], row["body"]))

    def keep_answer(self, asked: Asked, answer: Answer, at: float) -> None:
        """Keep the answer under its key; to be called within a transaction."""
        self.db.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
            (asked.key, asked.digest, answer.status, answer.body, at),
        )

    def forget(self, key: str) -> None:
        """Behave as if `key` had never been seen. What landed under it stays landed."""
        self.db.execute("DELETE FROM answers WHERE key = ?", (key,))

    def land(
        self, asked: Asked, service: str, kind: str, receipt: dict[str, Any], at: float
    ) -> None:
        """An effect happened; to be called within the transaction that made it."""
        row = (asked.key, asked.run_id, asked.step, asked.of_key, service, kind, asked.digest)
        self.db.execute(
            "INSERT INTO effects (key, run_id, step, of_key, service, kind, digest, receipt, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, json.dumps(receipt), at),
        )

    def receipt(self, key: str, kind: str, *, before: float) -> dict[str, Any] | None:
        """The receipt of the first effect of this kind under `key` that landed until `before`."""
        row = self.db.execute(
            "SELECT receipt FROM effects WHERE key = ? AND kind = ? AND at <= ? ORDER BY seq",
            (key, kind, before),
        ).fetchone()
        if row is None:
            return None
        receipt: dict[str, Any] = json.loads(row["receipt"])
        return receipt

    def effects(self) -> list[dict[str, Any]]:
        """Everything that landed, in landing order, with all that is known about it."""
        return _effects(self.db)


def _effects(db: sqlite3.Connection) -> list[dict[str, Any]]:
    rows = [dict(row) for row in db.execute("SELECT * FROM effects ORDER BY seq")]
    return [{**row, "receipt": json.loads(row["receipt"])} for row in rows]


def read_effects(path: Path | str) -> list[dict[str, Any]]:
    """Everything that landed, read from the file itself, with or without a living shop."""
    # Not `mode=ro`: after a kill within a commit the file has a journal to roll back, and a
    # read-only connection could not. `query_only` refuses every statement that writes.
    uri = Path(path).absolute().as_uri() + "?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=10)) as db:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA query_only=ON")
        return _effects(db)


def read_ledger(path: Path | str) -> list[dict[str, Any]]:
    """What landed as `saga.testing.check_laws` takes it: `{key, run_id, step, of_key, at}`."""
    return [brief(effect) for effect in read_effects(path)]


def brief(effect: dict[str, Any]) -> dict[str, Any]:
    """The five fields of an effect that a judge needs."""
    return {name: effect[name] for name in ("key", "run_id", "step", "of_key", "at")}
