"""The ticket tool: a process with a store of its own, which outlives whoever calls it.

`python -m examples.close_ticket.tool --store FILE [--port N]` prints `{"url", "pid"}` as
JSON and serves 127.0.0.1 until SIGTERM. A close is one transaction with its receipt. While a file
`FILE.hold` is there, the answer to a close is kept back after the close has been made durable.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from examples.serving import Answer, Request, serve

__all__ = ["Store", "main"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tickets (id TEXT PRIMARY KEY, status TEXT, version INTEGER);
CREATE TABLE IF NOT EXISTS receipts (
    key TEXT PRIMARY KEY, digest TEXT, ticket TEXT, status TEXT, version INTEGER, number INTEGER
);
"""


class Store:
    """Tickets, and a receipt for each write, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as store:
            store.executescript(_SCHEMA)
            store.executemany(
                "INSERT OR IGNORE INTO tickets VALUES (?, 'open', 8)",
                [(f"ticket-{number}",) for number in range(1, 10)],
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=10)) as store, store:
            yield store

    def ticket(self, id_: str) -> dict[str, Any] | None:
        """A ticket as it is now."""
        with self._open() as store:
            row = store.execute("SELECT * FROM tickets WHERE id = ?", (id_,)).fetchone()
        return row and {"ticket": row[0], "status": row[1], "version": row[2]}

    def receipt(self, key: str) -> dict[str, Any] | None:
        """What was written under a key."""
        with self._open() as store:
            return self._receipt(store, key)

    def writes(self) -> list[tuple[str, str]]:
        """Ticket and new status of every write, in order."""
        with self._open() as store:
            return store.execute("SELECT ticket, status FROM receipts ORDER BY number").fetchall()

    def write(self, key: str, digest: str, id_: str, status: str) -> Answer:
        """Set the status of a ticket once for each key. The HTTP status, and the receipt."""
        with self._open() as store:
            store.execute("BEGIN IMMEDIATE")
            known = self._receipt(store, key)
            if known is not None:
                same = known["intent_digest"] == digest
                return (200, known) if same else (422, {"error": "idempotency_key_reused"})
            changed = store.execute(
                "UPDATE tickets SET status = ?, version = version + 1 WHERE id = ?", (status, id_)
            )
            if not changed.rowcount:
                return 404, {"error": "no_such_ticket"}
            store.execute(
                "INSERT INTO receipts SELECT ?, ?, id, status, version, "
                "(SELECT count(*) + 1 FROM receipts) FROM tickets WHERE id = ?",
                (key, digest, id_),
            )
            return 200, self._receipt(store, key) or {}

    def _receipt(self, store: sqlite3.Connection, key: str) -> dict[str, Any] | None:
        row = store.execute("SELECT * FROM receipts WHERE key = ?", (key,)).fetchone()
        return row and {
            "receipt_id": f"receipt-{row[5]}",
            "idempotency_key": row[0],
            "intent_digest": row[1],
            "target_version": row[4],
            "status": row[3],
        }


def _get(store: Store, request: Request) -> Answer:
    room, _, name = request.path.lstrip("/").partition("/")
    found = store.ticket(name) if room == "tickets" else store.receipt(name)
    return (200, found) if found else (404, {"error": "not_there"})


def _post(store: Store, request: Request) -> Answer:
    request.rfile.read(int(request.headers.get("Content-Length", 0)))
    _, id_, verb = request.path.lstrip("/").split("/")
    status = {"close": "closed", "reopen": "open"}[verb]
    key, digest = request.headers["Idempotency-Key"], request.headers["Intent-Digest"]
    answer = store.write(key, digest, id_, status)
    while store.path.with_name(f"{store.path.name}.hold").exists():
        time.sleep(0.02)  # it is done, and nobody is told
    return answer


def main() -> int:
    """Serve until SIGTERM, or until standard input is closed with `--tied`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tied", action="store_true")
    given = parser.parse_args()
    store = Store(given.store)
    serve(partial(_get, store), partial(_post, store), given.port, tied=given.tied)
    return 0


if __name__ == "__main__":
    sys.exit(main())
