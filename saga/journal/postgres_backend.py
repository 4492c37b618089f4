"""The journal in PostgreSQL: all that is particular to it, as the seam asks for it.

Many write at once, each in a transaction of its own. Who decides on what stands in a run locks its
head before reading it; who writes what was decided names the version, so that a lost race changes
no row. A start that meets another of the same name finds out by the unique key, and reads again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import psycopg as psycopg_dialect
from sqlalchemy.ext.compiler import compiles

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.journal import postgres, postgres_schema
from saga.journal.backend import Asked, Turn, driver
from saga.journal.postgres_hints import ANNOUNCE, Notices
from saga.journal.postgres_rows import ArrayStatement, pipelined, register, texts
from saga.journal.server_clock import ServerClock
from saga.journal.statements import Nameable, OneOf

__all__ = ["PostgresBackend"]

_DIALECT = psycopg_dialect.dialect(paramstyle="format")  # type: ignore[no-untyped-call]
_LISTED = re.compile(r"(NOT )?IN \(__\[POSTCOMPILE_\w+\]\)")
_CAST = re.compile(r"%s::(TEXT|VARCHAR)( COLLATE \"C\")?")
# Each statement sees what was committed before it, whatever a role or a database has for a default.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_ALONE = "SELECT pg_advisory_xact_lock(hashtextextended(%b, 0))"
_LOCK = "SELECT 1 FROM runs WHERE run_id = ANY (%b) ORDER BY run_id FOR UPDATE"


class PostgresBackend:
    """See the seam, `Backend`."""

    made_by = "run: saga db upgrade"

    def __init__(self, url: str, clock: Clock) -> None:
        self._clock = ServerClock(clock)
        self._parameters = postgres.parameters(url)
        self.name = postgres.name_of(self._parameters)
        self.turn: Turn = _NoTurn()
        self._engine: sa.Engine | None = None
        self._pid = os.getpid()

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def error(self) -> type[Exception]:
        return psycopg.Error

    # ---- finding and opening

    def ensure_openable(self) -> None:
        """Connecting to it says what is wrong."""

    def engine(self, connect: Callable[[], Any]) -> sa.Engine:
        self._engine = sa.create_engine(
            "postgresql+psycopg://",
            creator=connect,
            isolation_level="AUTOCOMMIT",
            use_native_hstore=False,
            poolclass=sa.pool.QueuePool,
            pool_size=4,
            max_overflow=60,
            execution_options={"saga_backend": self},
        )
        return self._engine

    def connect(self) -> Any:
        connection = postgres.connect(self._parameters)
        register(connection)
        return connection

    def opened(self) -> None:
        """The server knows who is there."""

    def close(self) -> None:
        """Say goodbye to the server; after a fork that is the parent's to do."""
        if self._engine is not None and os.getpid() == self._pid:
            self._engine.dispose()

    def is_there(self) -> bool:
        return True  # or connecting to it says what is wrong

    def ensure_makeable(self, *, create: bool) -> None:  # noqa: ARG002  as in the seam
        raise DatabaseError(
            f"no saga schema in {self.name}; it is made when somebody asks for it",
            remedy=self.made_by,
        )

    def make_room(self) -> None:
        """The database is there."""

    # ---- transactions

    def begin(self, connection: sa.Connection) -> None:
        for _ in range(2):  # a new connection may be allowed to, or lead to another server
            if not self._begin(connection, _BEGIN, postgres.PLANS_FOR_GROWTH):
                return
            self._drop(connection)
        raise DatabaseError(
            f"{self.name} is read-only: a standby, or default_transaction_read_only is on",
            remedy="use the URL of the primary, promote the standby, or switch it off",
        )

    def begin_reading(self, connection: sa.Connection) -> None:
        self._begin(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def _begin(self, connection: sa.Connection, statement: str, settings: str = "") -> bool:
        """On a new connection, if this one turns out to be lost: nothing has been done on it.

        True: nothing can be written.
        """
        if connection.invalidated:
            connection.rollback()  # what SQLAlchemy takes for a transaction: nothing of ours
        raw = driver(connection)
        try:
            raw.pgconn.consume_input()  # in a pipeline nothing else would tell by now
            return self._send_begin(raw, statement, settings)
        except psycopg.OperationalError:
            if not raw.closed:
                raise
            self._drop(connection)
            return self._send_begin(driver(connection), statement, settings)

    def _send_begin(self, raw: Any, statement: str, settings: str) -> bool:
        """And hear what time it is there. True: nothing can be written."""
        asked = self._clock.monotonic()
        found = postgres.begin(raw, statement, settings)
        if found is None:
            return False
        self._clock.learn(found[0], asked, self._clock.monotonic())
        return found[1]

    def _drop(self, connection: sa.Connection) -> None:
        """This connection is lost, and so are those that wait in the pool, in all likelihood."""
        connection.invalidate()
        connection.rollback()
        connection.engine.dispose()

    def commit(self, connection: sa.Connection) -> None:
        driver(connection).execute("COMMIT", prepare=False)

    def announce(self, connection: sa.Connection) -> None:
        driver(connection).execute(ANNOUNCE, prepare=True)

    def rollback(self, connection: sa.Connection) -> None:
        if connection.invalidated:
            return
        raw = driver(connection)
        if raw.closed:
            self._drop(connection)
        elif self.in_transaction(connection):
            try:
                raw.execute("ROLLBACK", prepare=False)
            except psycopg.Error:
                self._drop(connection)

    def in_transaction(self, connection: sa.Connection) -> bool:
        status = driver(connection).info.transaction_status
        return bool(status != psycopg.pq.TransactionStatus.IDLE)

    @contextmanager
    def together(self, connection: sa.Connection) -> Iterator[None]:
        with pipelined(driver(connection)):
            yield

    def lock(self, connection: sa.Connection, run_ids: Sequence[str]) -> None:
        driver(connection).execute(_LOCK, [texts(run_ids)])

    def alone(self, connection: sa.Connection, name: str) -> None:
        driver(connection).execute(postgres.PATIENCE)
        driver(connection).execute(_ALONE, [name])

    @contextmanager
    def attempt(self, connection: sa.Connection) -> Iterator[None]:
        raw = driver(connection)
        raw.execute("SAVEPOINT attempt", prepare=False)  # the end of the transaction releases it
        try:
            yield
        except Exception:
            raw.execute("ROLLBACK TO SAVEPOINT attempt", prepare=False)
            raise

    # ---- statements and errors

    def statement(self, construct: sa.Executable, columns: Sequence[Any]) -> ArrayStatement:
        made = construct.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        return ArrayStatement(re.sub(r"%s::\w+( \w+)?", "%s", str(made)), columns)

    def question(self, construct: sa.Executable) -> Asked:
        made = construct.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        names, fixed = tuple(made.positiontup), dict(made.params)
        text = _LISTED.sub(lambda found: "<> ALL (%s)" if found[1] else "= ANY (%s)", str(made))
        text = _CAST.sub("%s::text", text).replace("%s", "%b")

        def ask(raw: Any, values: dict[str, Any]) -> Any:
            given = [values[name] if name in values else fixed[name] for name in names]
            parameters = [texts(one) if isinstance(one, list) else one for one in given]
            return raw.execute(text, parameters, binary=True, prepare=True)

        return ask

    def is_text(self, value: object) -> bool:
        return postgres.is_text(value)

    def passes(self, error: BaseException) -> bool:
        return postgres.passes(error)

    def is_lost(self, error: BaseException) -> bool:
        return postgres.is_lost(error)

    def is_violation(self, error: BaseException) -> bool:
        return postgres.is_violation(error)

    def advice(self, error: BaseException) -> str:
        return postgres.advice(error)

    def end_if_lost(self, error: Exception) -> None:
        """What is on the disk is the server's to know: it restarts after such an error."""

    # ---- others

    def hints(self, clock: Clock) -> Notices:
        return Notices(self.connect, clock)

    def life(self, id_: str) -> _NoLife:  # noqa: ARG002  as in the seam
        return _NoLife()

    def is_gone(self, id_: str) -> bool:  # noqa: ARG002  as in the seam
        return False  # it may be on another machine: its beat alone says so

    def forget(self, id_: str) -> None:
        """There is nothing but its row."""

    # ---- the schema

    def describe(self, connection: sa.Connection | None) -> dict[str, str]:
        return {} if connection is None else {"server": postgres_schema.server(connection)}

    def begin_upgrade(self, connection: sa.Connection) -> None:
        self.begin(connection)
        postgres_schema.take_turn(connection)

    def may_be_made(self) -> bool:
        return True

    def loose_end(self, connection: sa.Connection) -> str | None:  # noqa: ARG002  as in the seam
        return None  # the server checks it

    def differences(self, connection: sa.Connection, metadata: Sequence[sa.MetaData]) -> list[str]:
        self.begin(connection)
        try:
            return postgres_schema.differences(connection, metadata)
        finally:
            self.rollback(connection)

    def flaws(self, connection: sa.Connection) -> list[str]:  # noqa: ARG002  as in the seam
        return []  # `amcheck` and the checksums of the pages are for whoever runs the server


class _NoTurn:
    """Nobody waits for another writer, only for the rows that they both want."""

    @contextmanager
    def held(self) -> Iterator[None]:
        yield


class _NoLife:
    """A beat is all that there is."""

    def close(self) -> None:
        """Nothing is held."""


@compiles(Nameable, "postgresql")
def _nameable(_element: Nameable, _compiler: Any, **_options: Any) -> str:
    return "true"  # the server takes no id that it would not give back


@compiles(OneOf, "postgresql")
def _one_of(element: OneOf, compiler: Any, **options: Any) -> str:
    column, found = (compiler.process(one, **options) for one in (element.column, element.found))
    return f"{column} = ANY (ARRAY{found})"
