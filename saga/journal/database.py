"""One database: opened, checked, and the one way to a transaction.

Everything that reads or writes goes through `read` and `write`; so there is one place to retry, one
to inject faults and none where a transaction stays open across an outside call.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import sqlalchemy as sa
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.ids import Ids
from saga.journal import sqlite
from saga.journal.identity import Identity, enrol, identify
from saga.journal.making import ensure_current, fill, found_schema
from saga.journal.presence import Presence
from saga.journal.sealing import Keyring
from saga.journal.statements import Statements

__all__ = ["DEFAULT_URL", "Database", "about", "database_path", "driver", "explained"]

DEFAULT_URL = "sqlite:///saga.db"
_log = logging.getLogger("saga.journal")

T = TypeVar("T")


def database_path(url: str) -> Path:
    """The absolute path of an SQLite URL; `DatabaseError` for every other kind of URL."""
    prefix, separator, rest = url.partition(":///")
    if not separator or prefix != "sqlite" or not rest or rest.startswith(":memory:"):
        kind = url.partition(":")[0] or "nothing"
        raise DatabaseError(
            f"the database URL is not sqlite:///PATH (its kind is {kind!r})",
            remedy="PostgreSQL is not supported yet; use for example sqlite:///saga.db",
        )
    return Path(unquote(rest.partition("?")[0])).absolute()


class Database:
    """A database file, opened. `instance` is its own name, part of every idempotency key."""

    def __init__(
        self,
        url: str,
        keys: Keyring,
        *,
        create: bool = False,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> None:
        """Open it, make it if `create`; `DatabaseError` says what is wrong and what to do."""
        self.path = database_path(url)
        self.keys = keys
        self.clock = clock or Clock()
        self._turn = sqlite.TurnLock(self.path, self.clock)
        self._engine = sa.create_engine(
            "sqlite://",
            module=sqlite.library,
            creator=self._connect,
            poolclass=sa.pool.QueuePool,
            pool_size=4,
            max_overflow=60,
        )
        self.statements = Statements(self._engine.dialect)
        self._retrying = Retrying(
            retry=retry_if_exception(_is_busy),
            stop=stop_after_attempt(5),
            wait=wait_random_exponential(multiplier=0.01, max=1),
            sleep=self.clock.sleep,
            reraise=True,
        )
        self._owner_pid = os.getpid()
        self._presence: Presence | None = None
        try:
            if not self._made():
                self._make(ids or Ids(), create=create)
            self.instance = self._identified()
            self._presence = Presence(self.path)
            weakref.finalize(self, self._presence.end).atexit = False  # if nobody closes it
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back all connections; after a fork they are the parent's, and left to it."""
        if self._presence is not None:
            self._presence.end()
        self._engine.dispose(close=os.getpid() == self._owner_pid)

    def now(self) -> float:
        """The database's time in unix seconds. SQLite has none of its own: this machine's."""
        return self.clock.now()

    def connection(self) -> sa.Connection:
        """A connection outside any transaction, for the thread that writes."""
        if os.getpid() != self._owner_pid:
            raise DatabaseError(
                "this database was opened before a fork; its connections belong to the parent",
                remedy="construct the Client or Orchestrator in the process that uses it",
            )
        try:
            return self._engine.connect()
        except sa.exc.DBAPIError as error:
            raise explained(self.path, error) from error

    @contextmanager
    def turn(self, connection: sa.Connection) -> Iterator[sa.Connection]:
        """One write transaction on `connection`: committed at the end, rolled back on an error."""
        with self._turn.held():
            self.begin(connection)
            try:
                yield connection
                self.commit(connection)
            except BaseException:
                self.rollback(connection)
                raise

    def begin(self, connection: sa.Connection) -> None:
        """Take SQLite's own write lock; nothing that was read before can be stale after."""
        driver(connection).execute("BEGIN IMMEDIATE")

    def commit(self, connection: sa.Connection) -> None:
        """Make it durable. An error here means that nobody knows: read before doing anything."""
        driver(connection).execute("COMMIT")

    def rollback(self, connection: sa.Connection) -> None:
        """Undo the transaction, if SQLite has not done so itself."""
        if connection.invalidated:
            return  # interrupted in a statement: SQLAlchemy has closed it, which rolls back
        if driver(connection).in_transaction:
            driver(connection).execute("ROLLBACK")

    def write(
        self,
        work: Callable[[sa.Connection], T],
        happened: Callable[[sa.Connection, T], bool] | None = None,
    ) -> T:
        """Run `work` in a write transaction; the whole of it again if the database is busy.

        If COMMIT fails, `happened` is asked whether what `work` gave is durable all the same.
        """
        return self._again(lambda: self._write(work, happened))

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a read transaction: it sees one state of the database."""
        return self._again(lambda: self._read(work))

    def _again(self, transaction: Callable[[], T]) -> T:
        try:
            return self._retrying(transaction)
        except (OSError, sa.exc.DBAPIError, sqlite.library.Error) as error:
            raise explained(self.path, error) from error

    def _write(
        self,
        work: Callable[[sa.Connection], T],
        happened: Callable[[sa.Connection, T], bool] | None,
    ) -> T:
        with self.connection() as connection, self._turn.held():
            self.begin(connection)
            try:
                value = work(connection)
            except BaseException:
                self.rollback(connection)
                raise
            try:
                self.commit(connection)
            except sqlite.library.Error:
                self.rollback(connection)
                connection.invalidate()
                if happened is None or not self._happened(happened, value):
                    raise
            return value

    def _happened(self, happened: Callable[[sa.Connection, T], bool], value: T) -> bool:
        """Ask by another connection, still in our turn: nobody has written since."""
        try:
            with self.connection() as connection:
                return happened(connection, value)
        except (DatabaseError, sa.exc.DBAPIError, sqlite.library.Error):
            return False

    def _read(self, work: Callable[[sa.Connection], T]) -> T:
        with self.connection() as connection:
            driver(connection).execute("BEGIN")
            try:
                return work(connection)
            finally:
                self.rollback(connection)

    # ---- making and checking

    def _connect(self) -> Any:
        return sqlite.connect(self.path)

    def _made(self) -> bool:
        """Whether there is a database in the file; an interrupted making leaves none."""
        if self.path.is_dir():
            raise DatabaseError(f"{self.path} is a folder, not a database file")
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return False
        with about(self.path):
            return self.read(found_schema) is not None

    def _make(self, ids: Ids, *, create: bool) -> None:
        if not create:
            raise DatabaseError(
                f"no database at {self.path}",
                remedy="`saga start` and `saga orchestrator` make one; --db URL names another",
            )
        if not self.path.parent.is_dir():
            raise DatabaseError(f"no folder {self.path.parent} for the database to be made in")
        try:
            with self._turn.held():
                if not self._made():
                    sqlite.make_file(self.path)
                    with self.connection() as connection:
                        self.begin(connection)
                        fill(connection, self.keys, ids, self.clock.now())
                        self.commit(connection)
        except (OSError, sa.exc.DBAPIError, sqlite.library.Error) as error:
            raise explained(self.path, error) from error

    def _identified(self) -> str:
        with about(self.path):
            found = self.read(self._identify)
        if not found.enrolled:
            try:
                now = self.clock.now()
                self.write(lambda connection: enrol(connection, self.keys, found.instance, now))
            except DatabaseError as error:
                _log.info("only to read: %s", error)  # whoever writes will hear of it
        return found.instance

    def _identify(self, connection: sa.Connection) -> Identity:
        ensure_current(found_schema(connection) or "")
        return identify(connection, self.keys)


def driver(connection: sa.Connection) -> Any:
    """The driver's own connection. Hot statements go there: SQLAlchemy's per-row work is theirs."""
    return connection.connection.driver_connection


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Say in front of a `DatabaseError` which file it is about."""
    try:
        yield
    except DatabaseError as error:
        if str(path) in error.message:
            raise
        raise DatabaseError(f"{path}: {error.message}", remedy=error.remedy) from error


def _is_busy(error: BaseException) -> bool:
    # "locking protocol": somebody sleeps with the index of a WAL in its hands; it passes.
    text = str(error).lower()
    return isinstance(error, (sa.exc.OperationalError, sqlite.library.OperationalError)) and any(
        word in text for word in ("locked", "busy", "locking protocol")
    )


def explained(path: Path, error: Exception) -> Exception:
    """An error of the database in words, without the values that SQLAlchemy would print along.

    Every other error stays as it is.
    """
    if not isinstance(error, (sa.exc.DBAPIError, sqlite.library.Error, OSError)):
        return error
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return DatabaseError(f"{path}: {type(cause).__name__}: {cause}")
