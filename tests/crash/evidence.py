"""What a database says while orchestrators work on it and die: read, never written.

Plain SQL on a connection that refuses to write, since readers may look into it. It must not be
open in a process that forks orchestrators.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from saga.journal.sqlite import library

__all__ = ["FileJournal", "Head", "Journal", "Record", "ServerJournal", "until"]

_READ_ONLY = "-c default_transaction_read_only=on"
_AWAY_SECONDS = 60.0  # the longest that a server may be gone

T = TypeVar("T")


def until(
    condition: Callable[[], T | None], what: str, *, within: float = 10, pause: float = 0.002
) -> T:
    """Look until `condition` gives something true, and give that."""
    end = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < end, f"after {within:g} s still not: {what}"
        time.sleep(pause)
    return found


@dataclass(frozen=True)
class Head:
    """The row of a run, as far as it matters here."""

    run_id: str
    phase: str
    owner: str | None
    fence: int
    version: int


@dataclass(frozen=True)
class Record:
    """A record of the journal; `fence` 0 means that a client wrote it."""

    seq: int
    at: float
    fence: int
    events: list[dict[str, Any]]

    def find(self, kind: str, **fields: object) -> dict[str, Any] | None:
        """The first event of a kind with these fields."""
        wanted = {"kind": kind} | fields
        return next((event for event in self.events if wanted.items() <= event.items()), None)


class Journal(ABC):
    """A database of ours, seen from outside."""

    @abstractmethod
    def close(self) -> None:
        """Give the connection back."""

    @property
    @abstractmethod
    def turn_is_taken(self) -> bool:
        """Whether some process keeps all others from writing."""

    @abstractmethod
    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of one query, with `?` for each value."""

    @abstractmethod
    def is_sound(self) -> bool:
        """Whether what lies below the tables is whole, as far as the database can say."""

    def id_of(self, pid: int) -> str | None:
        """Under which id a process is registered now; `None` before it is."""
        sql = "SELECT id FROM orchestrators WHERE pid = ? AND state = 'alive' ORDER BY beat_at"
        rows = self.ask(sql, pid)
        return rows[-1][0] if rows else None

    def head(self, run_id: str) -> Head:
        """The row of a run."""
        (head,) = self.heads("run_id = ?", run_id)
        return head

    def heads(self, where: str, *values: object) -> list[Head]:
        """The rows of the runs of which a condition in SQL is true."""
        sql = f"SELECT run_id, phase, owner, fence, version FROM runs WHERE {where}"
        return [Head(*row) for row in self.ask(sql, *values)]

    def records(self, run_id: str) -> list[Record]:
        """The journal of a run."""
        rows = self.ask("SELECT seq, at, body FROM journal WHERE run_id = ? ORDER BY seq", run_id)
        return [
            Record(seq, at, body["fence"], body["events"])
            for seq, at, body in ((seq, at, json.loads(text)) for seq, at, text in rows)
        ]


class FileJournal(Journal):
    """A database in a file."""

    def __init__(self, path: Path) -> None:
        # Not `mode=ro`: beside a killed writer such a connection could not recover a WAL or roll
        # back a journal. `query_only` refuses every statement that writes.
        self._db = library.connect(
            f"{path.as_uri()}?mode=rw", uri=True, timeout=30, isolation_level=None
        )
        self._db.execute("PRAGMA query_only=ON")
        self._path = path

    def close(self) -> None:
        self._db.close()

    @property
    def turn_is_taken(self) -> bool:
        """Do not read while the process that has it is stopped."""
        try:
            descriptor = os.open(self._beside("turn"), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    @property
    def pages_under_way(self) -> int:
        """How many pages of a commit have been written that nobody can read yet."""
        try:
            log, index = self._beside("wal").read_bytes(), self._beside("shm").read_bytes()
        except FileNotFoundError:  # no WAL: the old pages are kept aside until it is through
            return self._beside("journal").stat().st_size // 4096
        size, salts = struct.unpack_from(">I", log, 8)[0] + 24, log[16:24]
        frames = range(32, len(log) - size + 1, size)
        written = next(
            (n for n, at in enumerate(frames) if log[at + 8 : at + 16] != salts), len(frames)
        )
        readable: int = struct.unpack_from("=I", index, 16)[0]
        return max(written - readable, 0)

    def _beside(self, what: str) -> Path:
        return self._path.with_name(f"{self._path.name}-{what}")

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._db.execute(sql, values).fetchall()
        return rows

    def id_of(self, pid: int) -> str | None:
        """`None` also before the file is made."""
        try:
            return super().id_of(pid)
        except library.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise

    def is_sound(self) -> bool:
        return self.ask("PRAGMA integrity_check") == [("ok",)]


class ServerJournal(Journal):
    """A database on a server. What is asked while that is away is asked again."""

    turn_is_taken = False  # each keeps others from the rows that it writes, and from no more

    def __init__(self, url: str) -> None:
        self._url = url
        self._db: psycopg.Connection[Any] | None = None

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with suppress(psycopg.Error):
                db.close()

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        text, end = sql.replace("?", "%s"), time.monotonic() + _AWAY_SECONDS
        while True:
            try:
                if self._db is None:
                    self._db = psycopg.connect(self._url, autocommit=True, options=_READ_ONLY)
                return self._db.execute(text, values or None).fetchall()
            except psycopg.OperationalError:
                self.close()
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def is_sound(self) -> bool:
        return True  # nothing is asked below the tables
