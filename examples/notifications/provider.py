"""The provider of notifications: a process with a ledger of its own, which outlives its callers.

`python -m examples.notifications.provider --ledger FILE [--port N] [--keys] [--queries]` prints
`{"url", "pid"}` as JSON and serves 127.0.0.1 until SIGTERM. With `--keys` a request under a known
key is answered with the receipt of the first one, and nothing is sent; with `--queries` it can be
asked what it has sent under a key. Without the one it sends whatever comes, without the other it
says nothing.

While a file `FILE.hold` with `{"to": ADDRESS, "number": N}` is there, the notification to that
address lands as the N-th of its run, and its answer is kept back after it has been made durable.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from examples.serving import Answer, Request, serve

__all__ = ["Ledger", "main"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sent (
    number INTEGER PRIMARY KEY, key TEXT, digest TEXT, run_id TEXT, step TEXT, address TEXT, at REAL
);
CREATE TABLE IF NOT EXISTS requests (number INTEGER PRIMARY KEY, run_id TEXT);
"""


class Ledger:
    """Every request that came, and every notification that went out, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hold = path.with_name(f"{path.name}.hold")
        with self._open() as ledger:
            ledger.executescript(_SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=10)) as ledger, ledger:
            ledger.row_factory = sqlite3.Row
            yield ledger

    def sent(self, run_id: str) -> list[dict[str, Any]]:
        """The notifications of a run that went out, in order."""
        return [row for row in self.all() if row["run_id"] == run_id]

    def all(self) -> list[dict[str, Any]]:
        """All notifications that went out, in order."""
        with self._open() as ledger:
            return [dict(row) for row in ledger.execute("SELECT * FROM sent ORDER BY number")]

    def requests(self, run_id: str) -> int:
        """How often a notification of a run was asked for."""
        with self._open() as ledger:
            found = ledger.execute("SELECT count(*) FROM requests WHERE run_id = ?", (run_id,))
            return int(found.fetchone()[0])

    def most_for_one(self, run_id: str) -> int:
        """How many notifications the same reader got, at most."""
        return max(Counter(row["address"] for row in self.sent(run_id)).values(), default=0)

    def held(self, notice: dict[str, Any]) -> bool:
        """Whether the answer to this one is kept back; then all before it have landed by now."""
        if not self.hold.exists():
            return False
        wish = json.loads(self.hold.read_text(encoding="utf-8"))
        if wish["to"] != notice["address"]:
            return False
        while len(self.sent(notice["run_id"])) < wish["number"] - 1:
            time.sleep(0.01)
        return True

    def keep_back(self) -> None:
        """It is sent, and nobody is told."""
        while self.hold.exists():
            time.sleep(0.01)

    def receipt(self, key: str) -> dict[str, Any] | None:
        """What went out first under a key."""
        row = next((row for row in self.all() if row["key"] == key), None)
        return row and _receipt(row)

    def send(self, notice: dict[str, Any], *, once: bool) -> Answer:
        """Send a notification; `once` for each key. The HTTP status, and the receipt."""
        with self._open() as ledger:
            ledger.execute("BEGIN IMMEDIATE")
            ledger.execute("INSERT INTO requests (run_id) VALUES (:run_id)", notice)
            found = ledger.execute("SELECT * FROM sent WHERE key = :key", notice).fetchone()
            if once and found is not None:
                same = found["digest"] == notice["digest"]
                return (
                    (200, _receipt(found)) if same else (422, {"error": "idempotency_key_reused"})
                )
            number = ledger.execute(
                "INSERT INTO sent (key, digest, run_id, step, address, at)"
                " VALUES (:key, :digest, :run_id, :step, :address, :at)",
                notice,
            ).lastrowid
        return 201, _receipt(notice | {"number": number})


def _receipt(row: Any) -> dict[str, Any]:
    return {
        "message": f"message-{row['number']}",
        "idempotency_key": row["key"],
        "intent_digest": row["digest"],
    }


def _get(ledger: Ledger, request: Request, *, offered: bool) -> Answer:
    if not offered:
        return 403, {"error": "not_offered"}
    (key,) = parse_qs(urlsplit(request.path).query)["key"]
    found = ledger.receipt(key)
    return (200, found) if found else (404, {"error": "not_there"})


def _post(ledger: Ledger, request: Request, *, once: bool) -> Answer:
    body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
    notice = {
        "key": request.headers["Idempotency-Key"],
        "digest": request.headers["Saga-Digest"],
        "run_id": request.headers["Saga-Run"],
        "step": request.headers["Saga-Step"],
        "address": body["to"],
        "at": time.time(),
    }
    held = ledger.held(notice)
    answer = ledger.send(notice, once=once)
    if held:
        ledger.keep_back()
    return answer


def main() -> int:
    """Serve until SIGTERM, or until standard input is closed with `--tied`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--keys", action="store_true")
    parser.add_argument("--queries", action="store_true")
    parser.add_argument("--tied", action="store_true")
    given = parser.parse_args()
    ledger = Ledger(given.ledger)
    get = partial(_get, ledger, offered=given.queries)
    serve(get, partial(_post, ledger, once=given.keys), given.port, tied=given.tied)
    return 0


if __name__ == "__main__":
    sys.exit(main())
