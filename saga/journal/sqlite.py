"""SQLite: how its files are made and opened, and how processes take turns at writing.

- SQLite 3.7.0 to 3.51.2 can lose a committed transaction of a WAL file when a process dies (the
  WAL-reset fault). With a fixed library (pysqlite3 carries one) a file is WAL with
  `synchronous=FULL`; otherwise `journal_mode=TRUNCATE` and FULL. DELETE is not used: it does not
  sync the directory, so a commit can come undone.
- The mode belongs to the file and is set when it is made. An affected library refuses a WAL file.
- Every connection verifies that it has what it asked for.
- Text that is not UTF-8 is read as it is, its bytes as lone surrogates: the seals find such damage,
  and an error of the driver would stop everything that reads a row beside it.
- Writers of several processes take turns by a lock on a file beside the database. Without it a
  writer waits in SQLite's own back-off, whose 99th percentile is over a second.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from saga.clock import Clock
from saga.errors import DatabaseError

try:
    import pysqlite3.dbapi2 as _bundled  # type: ignore[import-untyped]
except ImportError:  # no wheel for this platform
    library: Any = sqlite3
else:
    library = _bundled

__all__ = [
    "BUSY_SECONDS",
    "OLDEST",
    "TurnLock",
    "advice",
    "connect",
    "database_path",
    "file_at",
    "is_text",
    "library",
    "make_file",
    "safe_wal",
]

BUSY_SECONDS = 30.0
OLDEST = (3, 40, 0)
_FIXED_IN = (3, 51, 3)
_FULL = 2
_NAME_MOST = 200  # bytes: room is left for what is added for the files beside it
_BACKPORTS = {(3, 44): 6, (3, 50): 7}


def database_path(url: str) -> Path:
    """The absolute path of an SQLite URL, links followed; `DatabaseError` for any other URL."""
    prefix, separator, rest = url.partition(":///")
    if not separator or prefix != "sqlite" or not rest or rest.startswith(":memory:"):
        kind = url.partition(":")[0] or "nothing"
        named = url if url and ":" not in url else "saga.db"
        raise DatabaseError(
            f"the database URL is neither sqlite:///PATH nor postgresql://… (its kind is {kind!r})",
            remedy=f"use for example sqlite:///{named} or postgresql://user@host/database",
        )
    name, asked, query = rest.partition("?")
    if asked:
        raise DatabaseError(
            f"an SQLite URL of saga takes no options ({query!a})",
            remedy="leave them out; a question mark in the name of a file is %3F",
        )
    given = unquote(name, errors="surrogateescape")
    try:
        # One name for one file: beside it stand locks that all who use it must find.
        path = Path(given).resolve()
        path.is_dir()  # the whole of it can be asked for
    except (OSError, RuntimeError, ValueError) as error:
        raise DatabaseError(f"no file can be called {given!a}: {error}") from None
    if len(os.fsencode(path.name)) > _NAME_MOST:
        raise DatabaseError(
            f"the name of {path} is longer than {_NAME_MOST} bytes, and others are made from it",
            remedy="give the file a shorter one",
        )
    return path


def safe_wal(version: tuple[int, ...]) -> bool:
    """Whether a library of this version is free of the WAL-reset fault."""
    patch = _BACKPORTS.get((version[0], version[1]))
    return version >= _FIXED_IN or (patch is not None and version[2] >= patch)


def connect(path: Path) -> Any:
    """A connection to an existing file, verified: its mode must be safe with this library."""
    if library.sqlite_version_info < OLDEST:
        raise DatabaseError(
            f"SQLite {library.sqlite_version} is too old: {'.'.join(map(str, OLDEST))} is needed",
            remedy="install pysqlite3, or a newer Python",
        )
    uri = f"file:{quote(os.fsencode(path))}?mode=rw"
    connection = library.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = _text
        _ensure_durable(connection, path)
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def is_text(value: object) -> bool:
    """Whether the driver takes this back: what was altered may be bytes that are no text."""
    try:
        return isinstance(value, str) and bool(value.encode())
    except UnicodeEncodeError:
        return False


def _ensure_durable(connection: Any, path: Path) -> None:
    mode = _pragma(connection, "journal_mode")
    if mode == "wal" and not safe_wal(library.sqlite_version_info):
        raise DatabaseError(
            f"{path} is a WAL file and SQLite {library.sqlite_version} can lose commits of it",
            remedy="install pysqlite3, or a Python with SQLite 3.51.3 or newer",
        )
    if mode != "wal":
        # TRUNCATE is not stored in the file: it is this connection's to say.
        mode = _pragma(connection, "journal_mode=TRUNCATE")
    connection.execute("PRAGMA synchronous=FULL")
    level = _pragma(connection, "synchronous")
    if mode not in ("wal", "truncate") or level != _FULL:
        raise DatabaseError(
            f"{path} cannot be written durably: journal mode {mode!r}, synchronous {level!r}"
        )


def _pragma(connection: Any, statement: str) -> Any:
    return connection.execute(f"PRAGMA {statement}").fetchone()[0]


def make_file(path: Path) -> None:
    """Make an empty database file in the mode that this library can keep."""
    connection = library.connect(str(path), timeout=BUSY_SECONDS, isolation_level=None)
    try:
        wal = safe_wal(library.sqlite_version_info)
        connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'TRUNCATE'}")
    finally:
        connection.close()


def advice(error: BaseException) -> str:
    """What to do about an error that whoever asks can do something about."""
    said = str(error)
    if isinstance(error, PermissionError) or "readonly" in said or "unable to open" in said:
        return (
            "this user has to be able to write the file, what stands beside it (-wal, -shm, -turn)"
            " and its folder, to read as well; or copy it to a folder of your own"
        )
    if "not a database" in said:
        return "name the file that saga has made, or restore it from a backup"
    if "disk I/O error" in said:
        return "see what the system says of the disk (dmesg), and whether it is full"
    return ""


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file has this name now: its device and its number there; `None` if none has."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class TurnLock:
    """The turn to write, between processes and between the threads of this one."""

    def __init__(self, database: Path, clock: Clock) -> None:
        self._path = database.with_name(database.name + "-turn")
        self._clock = clock

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the turn, at most `BUSY_SECONDS`; `DatabaseError` then."""
        # A descriptor of its own per use: flock belongs to the open file, so threads exclude
        # each other too, and a dying process gives its turn back.
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            self._take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        wait, until = 0.0002, self._clock.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._clock.monotonic() > until:
                    raise DatabaseError(
                        f"another process has held the turn to write for {BUSY_SECONDS:.0f} s",
                        remedy=f"see who holds {self._path} (lsof), and whether it is stopped",
                    ) from None
                self._clock.sleep(wait)
                wait = min(wait * 2, 0.004)
            else:
                return
