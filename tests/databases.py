"""Where a test has its databases: in files, or on a server. One suite is for both.

A test says nothing of it: it takes `databases`, or something that is made of it, and is run once
with each. One that is about files, or about a server, takes `file_databases` or `server_databases`.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import psycopg
import pytest

from saga.journal.schema import upgrade
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path, library
from tests.postgres.server import Server

__all__ = [
    "KINDS",
    "Databases",
    "FileDatabases",
    "ServerDatabases",
    "Unscrupulous",
    "files_only",
    "server_only",
    "traced",
    "with_schema",
]

KINDS = ("sqlite", "postgresql")
Rows: TypeAlias = list[tuple[Any, ...]]

# For a test that is about files, or about what only SQLite does.
files_only = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
server_only = pytest.mark.parametrize("databases", ["postgresql"], indirect=True)


class Databases(Protocol):
    """Makes databases for one test, and looks into them past everything that the product does."""

    kind: str
    error: type[Exception]
    """What the driver raises when nobody knows what became of a statement."""
    refusal: type[Exception]
    """What the driver raises when a constraint refuses one."""

    def fresh(self, name: str = "saga") -> str:
        """A new database; the same one for the same name."""
        ...

    def empty(self) -> str:
        """One in which nothing has been made."""
        ...

    def lasting(self, keys: str | None) -> str:
        """A new database that outlives the test, sealed with these keys."""
        ...

    def copied(self, url: str) -> str:
        """A copy of a database that nobody has open."""
        ...

    def query(self, url: str, sql: str, *values: object) -> Rows:
        """Execute one statement, with `?` for each value; what it gives."""
        ...

    def refuse_records(self, url: str, run_id: str, text: str) -> Callable[[], object]:
        """The database takes no record of this run any more and says so; until that is called."""
        ...

    def is_written(self, url: str) -> bool:
        """Whether somebody is in the middle of a transaction that others may have to wait for."""
        ...

    def connected(self, url: str) -> Any:
        """A connection of the driver, in autocommit; a context manager that closes it."""
        ...


class FileDatabases:
    """SQLite files in the folder of a test."""

    kind = "sqlite"
    error: type[Exception] = library.OperationalError
    refusal: type[Exception] = library.IntegrityError

    def __init__(self, folder: Path, lasting: Callable[[], Path] | None = None) -> None:
        self._folder = folder
        self._lasting = lasting or (lambda: folder)
        self._count = 0

    def fresh(self, name: str = "saga") -> str:
        return f"sqlite:///{self._folder / name}.db"

    def empty(self) -> str:
        self._count += 1
        return self.fresh(f"empty-{self._count}")

    def lasting(self, keys: str | None) -> str:
        return f"sqlite:///{self._lasting() / 'lasting.db'}"

    def copied(self, url: str) -> str:
        self._count += 1
        copy = self._folder / f"copy-{self._count}.db"
        # All connections to the source are closed: its file is whole without a log beside it.
        shutil.copyfile(database_path(url), copy)
        return f"sqlite:///{copy}"

    def query(self, url: str, sql: str, *values: object) -> Rows:
        with self.connected(url) as connection:
            rows: Rows = connection.execute(sql, values).fetchall()
            return rows

    def refuse_records(self, url: str, run_id: str, text: str) -> Callable[[], object]:
        self.query(
            url,
            f"CREATE TRIGGER refusing BEFORE INSERT ON journal WHEN NEW.run_id = '{run_id}' "
            f"BEGIN SELECT RAISE(ABORT, '{text}'); END",
        )
        return lambda: self.query(url, "DROP TRIGGER refusing")

    def is_written(self, url: str) -> bool:
        path = database_path(url)
        with path.with_name(f"{path.name}-turn").open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def connected(self, url: str) -> Any:
        path = str(database_path(url))
        return closing(library.connect(path, isolation_level=None, timeout=30))


class ServerDatabases:
    """Databases of a PostgreSQL server, made of one that has the schema."""

    kind = "postgresql"
    error: type[Exception] = psycopg.OperationalError
    refusal: type[Exception] = psycopg.IntegrityError

    def __init__(self, server: Server, template: Callable[[], str]) -> None:
        self._server = server
        self._template = template
        self._fresh: dict[str, str] = {}
        self.made: list[str] = []

    def fresh(self, name: str = "saga") -> str:
        if name not in self._fresh:
            self._fresh[name] = self.copied(self._template())
        return self._fresh[name]

    def empty(self) -> str:
        self.made.append(url := self._server.make())
        return url

    def lasting(self, keys: str | None) -> str:
        return with_schema(self._server, keys)

    def copied(self, url: str) -> str:
        self.made.append(copy := self._server.make(url))
        return copy

    def query(self, url: str, sql: str, *values: object) -> Rows:
        with self.connected(url) as connection:
            found = connection.execute(sql.replace("?", "%s"), values)
            rows: Rows = found.fetchall() if found.description is not None else []
            return rows

    def refuse_records(self, url: str, run_id: str, text: str) -> Callable[[], object]:
        self.query(
            url,
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{text}'; END $$",
        )
        self.query(
            url,
            "CREATE TRIGGER refusing BEFORE INSERT ON journal FOR EACH ROW "
            f"WHEN (NEW.run_id = '{run_id}') EXECUTE FUNCTION refuse()",
        )
        return lambda: self.query(url, "DROP TRIGGER refusing ON journal")

    def is_written(self, url: str) -> bool:
        open_ = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'"
        )
        return self.query(url, open_.replace("%", "%%")) != [(0,)]

    @contextmanager
    def connected(self, url: str) -> Iterator[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection

    def end(self) -> None:
        """Remove what was made."""
        for url in self.made:
            self._server.drop(url)


def with_schema(server: Server, keys: str | None = None) -> str:
    """A database with the schema and nothing else."""
    url = server.make()
    upgrade(url, Keyring.parse(keys or ""))
    return url


class Unscrupulous:
    """A connection of somebody who may do everything and looks at no constraint.

    Statements have `?` for a value, and `CAST(? AS TEXT)` for bytes that are to be one.
    """

    def __init__(self, connection: Any, *, in_transaction: bool = False) -> None:
        self._connection = connection
        self._postgres = isinstance(connection, psycopg.Connection)
        if not self._postgres:
            pragma = "defer_foreign_keys=ON" if in_transaction else "foreign_keys=OFF"
            connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA ignore_check_constraints=ON")
            return
        connection.execute("SET session_replication_role = replica")  # no foreign keys
        checks = "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'c'"
        ours = f"{checks} AND connamespace = current_schema()::regnamespace"
        for table, name in connection.execute(ours).fetchall():
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")

    def execute(self, statement: str, values: Sequence[object] = ()) -> Any:
        if self._postgres:
            statement = statement.replace("CAST(? AS TEXT)", "convert_from(?, 'UTF8')")
            statement = statement.replace("?", "%s")
        return self._connection.execute(statement, values)


def traced(connection: Any, statements: list[str]) -> None:
    """From now on write down every statement that this connection of a driver executes."""
    if isinstance(connection, psycopg.Connection):

        class Noting(psycopg.Cursor[Any]):
            def execute(self, query: Any, *args: Any, **options: Any) -> Any:
                statements.append(str(query))
                return super().execute(query, *args, **options)

        connection.cursor_factory = Noting
    else:
        connection.set_trace_callback(statements.append)
