"""The journal in an SQLite file: all that is particular to it, as the seam asks for it.

One writer at a time, between all processes: whoever has begun to write sees nothing change, so
nothing in it has to be locked once more.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.ext.compiler import compiles

from saga.clock import Clock
from saga.errors import Conflict, DatabaseError
from saga.journal import sqlite
from saga.journal.backend import RACE_LOST, Asked, Turn, driver
from saga.journal.presence import Presence
from saga.journal.projection import Row
from saga.journal.sqlite_signs import FileHints, LifeLock
from saga.journal.statements import Nameable, OneOf

__all__ = ["SqliteBackend"]

_DIALECT = pysqlite.dialect()
_MOST = 64  # rows of one statement; there is one text for each power of two
_log = logging.getLogger("saga.journal")


class SqliteBackend:
    """See the seam, `Backend`."""

    made_by = "`saga start` and `saga orchestrator` make one"

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path, self.name = path, str(path)
        self.turn: Turn = sqlite.TurnLock(path, clock)
        self.clock = clock  # whoever has the file is on this machine
        self._presence: Presence | None = None
        self._file: tuple[int, int] | None = None  # that we have opened

    @property
    def error(self) -> type[Exception]:
        found: type[Exception] = sqlite.library.Error
        return found

    # ---- finding and opening

    def ensure_openable(self) -> None:
        if self.path.is_dir():
            raise DatabaseError(f"{self.path} is a folder, not a database file")
        if not self.path.is_file():
            raise DatabaseError(f"no database at {self.path}", remedy=self.made_by)

    def engine(self, connect: Callable[[], Any]) -> sa.Engine:
        return sa.create_engine(
            "sqlite://",
            module=sqlite.library,
            creator=connect,
            poolclass=sa.pool.QueuePool,
            pool_size=4,
            max_overflow=60,
            execution_options={"saga_backend": self},
        )

    def connect(self) -> Any:
        return sqlite.connect(self.path)

    def opened(self) -> None:
        self._presence, self._file = Presence(self.path), sqlite.file_at(self.path)

    def close(self) -> None:
        if self._presence is not None:
            self._presence.end()

    def is_there(self) -> bool:
        if self.path.is_dir():
            raise DatabaseError(f"{self.path} is a folder, not a database file")
        return self.path.is_file() and self.path.stat().st_size > 0

    def ensure_makeable(self, *, create: bool) -> None:
        if not create:
            raise DatabaseError(
                f"no database at {self.path}",
                remedy=f"{self.made_by}; --db URL names another",
            )
        if not self.path.parent.is_dir():
            raise DatabaseError(f"no folder {self.path.parent} for the database to be made in")

    def make_room(self) -> None:
        sqlite.make_file(self.path)

    # ---- transactions

    def begin(self, connection: sa.Connection) -> None:
        self._ensure_there()
        driver(connection).execute("BEGIN IMMEDIATE")

    def begin_reading(self, connection: sa.Connection) -> None:
        self._ensure_there()
        driver(connection).execute("BEGIN")

    def _ensure_there(self) -> None:
        """A file that has lost its name can still be written, and nobody would ever see that."""
        if self._file not in (None, sqlite.file_at(self.path)):
            what = f"{self.path} has been removed or replaced while it was open"
            raise DatabaseError(what, remedy="end whoever has it open, then put it back")

    def commit(self, connection: sa.Connection) -> None:
        driver(connection).execute("COMMIT")

    def announce(self, connection: sa.Connection) -> None:
        """The file tells."""

    def rollback(self, connection: sa.Connection) -> None:
        if connection.invalidated:
            return  # interrupted in a statement: SQLAlchemy has closed it, which rolls back
        if driver(connection).in_transaction:
            driver(connection).execute("ROLLBACK")

    def in_transaction(self, connection: sa.Connection) -> bool:
        return bool(driver(connection).in_transaction)

    @contextmanager
    def together(self, connection: sa.Connection) -> Iterator[None]:  # noqa: ARG002  as in the seam
        """There is nobody to wait for."""
        yield

    def lock(self, connection: sa.Connection, run_ids: Sequence[str]) -> None:
        """Whoever writes has locked everything."""

    def alone(self, connection: sa.Connection, name: str) -> None:
        """The same."""

    @contextmanager
    def attempt(self, connection: sa.Connection) -> Iterator[None]:  # noqa: ARG002  as in the seam
        """A statement that fails changes nothing here and ends no transaction."""
        yield

    # ---- statements and errors

    def statement(self, construct: sa.Executable, columns: Sequence[Any]) -> _Statement:
        assert columns, construct
        return _Statement(construct)

    def question(self, construct: sa.Executable) -> Asked:
        made = construct.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        text, names, fixed = str(made), tuple(made.positiontup), dict(made.params)

        def ask(raw: Any, values: dict[str, Any]) -> Any:
            sql, parameters = text, list[Any]()
            for name in names:
                value = values[name] if name in values else fixed[name]
                if isinstance(value, list):
                    sql = sql.replace(f"__[POSTCOMPILE_{name}]", ", ".join("?" * len(value)))
                    parameters += value
                else:
                    parameters.append(value)
            return raw.execute(sql, parameters)

        return ask

    def is_text(self, value: object) -> bool:
        return sqlite.is_text(value)

    def passes(self, error: BaseException) -> bool:
        # "locking protocol": somebody sleeps with the index of a WAL in its hands; it passes.
        text = str(error).lower()
        return isinstance(
            error, (sa.exc.OperationalError, sqlite.library.OperationalError)
        ) and any(word in text for word in ("locked", "busy", "locking protocol"))

    def is_lost(self, error: BaseException) -> bool:  # noqa: ARG002  as in the seam
        return False  # a file goes nowhere

    def is_violation(self, error: BaseException) -> bool:
        return isinstance(error, sqlite.library.IntegrityError)

    def advice(self, error: BaseException) -> str:
        return sqlite.advice(error)

    def end_if_lost(self, error: Exception) -> None:
        code: Any = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF == sqlite.library.SQLITE_IOERR:
            _log.critical("the database reported an IO error; this process ends: %s", error)
            os._exit(1)

    # ---- others

    def hints(self, clock: Clock) -> FileHints:
        return FileHints(self.path, clock)

    def life(self, id_: str) -> LifeLock:
        return LifeLock(self.path, id_)

    def is_gone(self, id_: str) -> bool:
        return LifeLock.is_free(self.path, id_)

    def forget(self, id_: str) -> None:
        LifeLock.forget(self.path, id_)

    # ---- the schema

    def describe(self, connection: sa.Connection | None) -> dict[str, str]:
        library = {"sqlite": sqlite.library.sqlite_version}
        if connection is None:
            return library
        (mode,) = driver(connection).execute("PRAGMA journal_mode").fetchone()
        return {"journal_mode": mode, **library}

    def begin_upgrade(self, connection: sa.Connection) -> None:
        # A revision may rebuild a table that others refer to; that is checked before the end.
        driver(connection).execute("PRAGMA foreign_keys=OFF")
        driver(connection).execute("BEGIN IMMEDIATE")

    def may_be_made(self) -> bool:
        """An orchestrator or a start makes a file, and an upgrade none: it would be a mistake."""
        return False

    def loose_end(self, connection: sa.Connection) -> str | None:
        loose = driver(connection).execute("PRAGMA foreign_key_check").fetchone()
        return None if loose is None else str(loose[0])

    def differences(self, connection: sa.Connection, metadata: Sequence[sa.MetaData]) -> list[str]:
        engine = sa.create_engine("sqlite://", module=sqlite.library)
        with engine.connect() as fresh:
            for one in metadata:
                one.create_all(fresh)
            wanted = _made_by(fresh)
        engine.dispose()
        found = _made_by(connection)
        missing = [f"{name} is missing" for name in wanted if name not in found]
        other = [
            f"{name} is not as this version makes it"
            for name in wanted.keys() & found.keys()
            if found[name] != wanted[name]
        ]
        # An index more does no harm; a trigger or a view may change what is written or read.
        foreign = [
            f"{name} is none of ours" for name in found if name.startswith(("trigger", "view"))
        ]
        return sorted([*missing, *other, *foreign])

    def flaws(self, connection: sa.Connection) -> list[str]:
        """Pages, indexes that miss a row, types."""
        rows = driver(connection).execute("PRAGMA integrity_check(20)").fetchall()
        return [f"the file: {text}" for (text,) in rows if text != "ok"]


def _made_by(connection: sa.Connection) -> dict[str, str]:
    rows = driver(connection).execute(
        "SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    )
    return dict(rows.fetchall())


class _Statement:
    """Many rows in one text: between two statements the driver gives up the interpreter."""

    def __init__(self, construct: sa.Executable) -> None:
        sql = str(construct.compile(dialect=_DIALECT))  # type: ignore[attr-defined]
        before, values, rest = sql.partition("VALUES ")
        row, end, after = rest.partition(")")
        self._texts = {
            size: f"{before}{values}{', '.join([row + end] * size)}{after}"
            for size in (2**n for n in range(_MOST.bit_length()))
        }

    def run(self, cursor: Any, rows: Sequence[Row]) -> None:
        at = 0
        while at < len(rows):
            size = min(_MOST, 1 << (len(rows) - at).bit_length() - 1)
            cursor.execute(self._texts[size], [*chain.from_iterable(rows[at : at + size])])
            at += size

    def ensure(self, cursor: Any, rows: Sequence[Row]) -> None:
        # Python's own sqlite3 has no count of rows for a statement that begins with WITH.
        before = cursor.connection.total_changes
        self.run(cursor, rows)
        if cursor.connection.total_changes - before != len(rows):
            raise Conflict(RACE_LOST)


@compiles(Nameable, "sqlite")
def _nameable(element: Nameable, compiler: Any, **options: Any) -> str:
    """What was altered may be bytes that no statement can name."""
    return f"({compiler.process(element.column, **options)} NOT GLOB '*[^A-Za-z0-9._:-]*')"


@compiles(OneOf, "sqlite")
def _one_of(element: OneOf, compiler: Any, **options: Any) -> str:
    column, found = (compiler.process(one, **options) for one in (element.column, element.found))
    return f"{column} IN {found}"
