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
from typing import Any, TypeVar

import sqlalchemy as sa
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.ids import Ids
from saga.journal.backend import Backend
from saga.journal.identity import Identity, enrol, identify
from saga.journal.making import ensure_current, fill, found_schema
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path
from saga.journal.sqlite_backend import SqliteBackend
from saga.journal.statements import Statements

__all__ = ["DEFAULT_URL", "Database", "Violation", "about", "backend_for", "explained"]

DEFAULT_URL = "sqlite:///saga.db"
_log = logging.getLogger("saga.journal")

T = TypeVar("T")


class Violation(DatabaseError):
    """A constraint of the database refuses what was to be written."""


def backend_for(url: str, clock: Clock) -> Backend:
    """What is particular to the database that a URL names. Raises `DatabaseError`."""
    if url.partition(":")[0].partition("+")[0] in ("postgres", "postgresql"):
        from saga.journal.postgres_backend import PostgresBackend  # noqa: PLC0415  its driver is big

        return PostgresBackend(url, clock)
    return SqliteBackend(database_path(url), clock)


class Database:
    """A database, opened. `instance` is its own name, part of every idempotency key."""

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
        self.keys = keys
        self.backend = backend_for(url, clock or Clock())
        self.clock = self.backend.clock
        self.name = self.backend.name
        self._turn = self.backend.turn
        us = weakref.ref(self)  # a strong one would keep us alive, through the engine
        self._engine = self.backend.engine(lambda: _connection_of(us()))
        self.statements = Statements(self.backend)
        self._retrying = Retrying(
            retry=retry_if_exception(self.backend.passes),
            stop=stop_after_attempt(5),
            wait=wait_random_exponential(multiplier=0.01, max=1),
            sleep=self.clock.sleep,
            reraise=True,
        )
        self._owner_pid = os.getpid()
        try:
            if not self._made():
                self._make(ids or Ids(), create=create)
            self.instance = self._identified()
            self.backend.opened()
            weakref.finalize(self, self.backend.close).atexit = False  # if nobody closes it
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back all connections; after a fork they are the parent's, and left to it."""
        self.backend.close()
        self._engine.dispose(close=os.getpid() == self._owner_pid)

    def now(self) -> float:
        """The time in unix seconds, the same for all who use this database."""
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
        except sa.exc.TimeoutError:
            raise DatabaseError(
                f"{self.name}: more threads ask at once than there are connections for",
                remedy="let fewer threads share a Client, or see what they all wait for",
            ) from None
        except sa.exc.DBAPIError as error:
            raise self.explained(error) from error

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

    @contextmanager
    def batch(self, connection: sa.Connection) -> Iterator[sa.Connection]:
        """As `turn`, for hot statements alone: they are sent together, where that is possible."""
        with self._turn.held():
            try:
                with self.backend.together(connection):
                    self.begin(connection)
                    yield connection
                    self.commit(connection)
            except BaseException:
                self.rollback(connection)
                raise

    def begin(self, connection: sa.Connection) -> None:
        """Begin to write."""
        self.backend.begin(connection)

    def commit(self, connection: sa.Connection) -> None:
        """Make it durable. An error here means that nobody knows: read before doing anything."""
        self.backend.commit(connection)

    def rollback(self, connection: sa.Connection) -> None:
        """Undo the transaction, if the database has not done so itself."""
        self.backend.rollback(connection)

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

    def glance(self, work: Callable[[sa.Connection], T]) -> T:
        """As `read`, without a transaction around it: each statement sees a state of its own."""
        with self.connection() as connection:
            try:
                return work(connection)
            except (sa.exc.DBAPIError, self.backend.error):
                self.rollback(connection)
        return self.read(work)  # by another connection, should this one be lost

    def explained(self, error: Exception) -> Exception:
        """An error of this database in words; every other error stays as it is."""
        return explained(self.backend, error)

    def _again(self, transaction: Callable[[], T]) -> T:
        try:
            return self._retrying(transaction)
        except (OSError, sa.exc.DBAPIError, self.backend.error) as error:
            raise self.explained(error) from error

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
                with self.backend.together(connection):
                    self.backend.announce(connection)
                    self.commit(connection)
            except self.backend.error as error:
                self.rollback(connection)
                connection.invalidate()
                known = None if happened is None else self._happened(happened, value)
                if known is None and self.backend.is_lost(error):
                    raise self.explained(error) from error  # and never tried again on a guess
                if not known:
                    raise
            return value

    def _happened(self, happened: Callable[[sa.Connection, T], bool], value: T) -> bool | None:
        """Ask by another connection, still in our turn: nobody has written since.

        `None`: there is no answer.
        """
        try:
            with self.connection() as connection:
                return happened(connection, value)
        except (DatabaseError, sa.exc.DBAPIError, self.backend.error):
            return None

    def _read(self, work: Callable[[sa.Connection], T]) -> T:
        with self.connection() as connection:
            self.backend.begin_reading(connection)
            try:
                return work(connection)
            finally:
                self.rollback(connection)

    # ---- making and checking

    def _connect(self) -> Any:
        return self.backend.connect()

    def _made(self) -> bool:
        """Whether there is a database; an interrupted making leaves none."""
        if not self.backend.is_there():
            return False
        with about(self.name):
            return self.read(found_schema) is not None

    def _make(self, ids: Ids, *, create: bool) -> None:
        self.backend.ensure_makeable(create=create)
        try:
            with self._turn.held():
                if not self._made():
                    self.backend.make_room()
                    with self.connection() as connection:
                        self.begin(connection)
                        fill(connection, self.keys, ids, self.clock.now())
                        self.commit(connection)
        except (OSError, sa.exc.DBAPIError, self.backend.error) as error:
            raise self.explained(error) from error

    def _identified(self) -> str:
        with about(self.name):
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


def _connection_of(database: Database | None) -> Any:
    assert database is not None, "an engine has outlived its database"
    return database._connect()  # noqa: SLF001  ours


@contextmanager
def about(name: str) -> Iterator[None]:
    """Say in front of a `DatabaseError` which database it is about."""
    try:
        yield
    except DatabaseError as error:
        if name in error.message:
            raise
        raise DatabaseError(f"{name}: {error.message}", remedy=error.remedy) from error


def explained(backend: Backend, error: Exception) -> Exception:
    """An error of the database in words, without the values that SQLAlchemy would print along.

    Every other error stays as it is.
    """
    if not isinstance(error, (sa.exc.DBAPIError, OSError, backend.error)):
        return error
    cause = (error.orig or error) if isinstance(error, sa.exc.DBAPIError) else error
    kind = Violation if backend.is_violation(cause) else DatabaseError
    said = " ".join(str(cause).split())  # a server answers in several lines
    return kind(f"{backend.name}: {type(cause).__name__}: {said}", remedy=backend.advice(cause))
