"""The schema of a database file: what it is, what it should be, and the way from one to the other.

Alembic owns the steps in between. All of them are one transaction, taken in turn with every other
writer: whoever is killed has changed nothing, and the second of two upgrades finds nothing to do.
Forwards only: a newer schema is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.journal import sqlite
from saga.journal.database import about, database_path, driver, explained
from saga.journal.identity import identify
from saga.journal.making import REVISIONS, ensure_current, found_schema, newer_schema
from saga.journal.sealing import Keyring
from saga.journal.tables import SCHEMA, metadata

__all__ = ["SCRIPTS", "Condition", "check", "upgrade"]

_ROOM = Path(__file__).resolve().parents[1]
SCRIPTS = _ROOM / "_migrations"  # where the wheel has them
if not SCRIPTS.is_dir():
    SCRIPTS = _ROOM.parent / "migrations"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a database file is and what it should be. `ok`: nothing needs to be done.

    `found` is its schema (`None`: there is no database), `journal_mode` and `sqlite` say how it is
    written and by which library. `problems` say what is wrong, `remedy` what to do.
    """

    path: str
    found: str | None
    needed: str
    journal_mode: str | None
    sqlite: str
    problems: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems


def check(url: str, keys: Keyring) -> Condition:
    """Look at the file that `url` names and change nothing. `DatabaseError` for another URL."""
    path = database_path(url)
    found, mode, problems, remedy = None, None, [], ""
    try:
        with _opened(path) as connection:
            mode = driver(connection).execute("PRAGMA journal_mode").fetchone()[0]
            found = _schema(connection)
            ensure_current(found)
            problems += _altered(connection)
            identify(connection, keys)
    except DatabaseError as error:
        problems.append(error.message)
        remedy = error.remedy
    return Condition(
        str(path), found, SCHEMA, mode, sqlite.library.sqlite_version, tuple(problems), remedy
    )


def upgrade(
    url: str, keys: Keyring, *, scripts: Path = SCRIPTS, clock: Clock | None = None
) -> tuple[str, str]:
    """Bring the database to the newest schema of `scripts`; the schema before and after.

    Raises `DatabaseError`: no database, another application's, a newer schema, other keys. Then,
    and after any other error, nothing has changed.
    """
    path = database_path(url)
    config = Config(attributes={})
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    revisions = ScriptDirectory.from_config(config)
    newest = str(revisions.get_current_head())
    turn = sqlite.TurnLock(path, clock or Clock())
    with about(path), _opened(path) as connection, turn.held():
        # A revision may rebuild a table that others refer to; that is checked before the end.
        driver(connection).execute("PRAGMA foreign_keys=OFF")
        driver(connection).execute("BEGIN IMMEDIATE")
        try:
            before = _schema(connection)
            _ensure_known(before, revisions)
            if before != newest:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                _ensure_whole(connection, newest)
            identify(connection, keys)
            driver(connection).execute("COMMIT")
        except BaseException:
            if driver(connection).in_transaction:
                driver(connection).execute("ROLLBACK")
            raise
    return before, newest


_MADE_BY = "`saga start` and `saga orchestrator` make one"


@contextmanager
def _opened(path: Path) -> Iterator[sa.Connection]:
    """A connection to the file as it is, whatever its schema."""
    if path.is_dir():
        raise DatabaseError(f"{path} is a folder, not a database file")
    if not path.is_file():
        raise DatabaseError(f"no database at {path}", remedy=_MADE_BY)
    engine = sa.create_engine(
        "sqlite://",
        module=sqlite.library,
        creator=lambda: sqlite.connect(path),
        poolclass=sa.pool.NullPool,
    )
    try:
        with engine.connect() as connection:
            yield connection
    except (OSError, sa.exc.DBAPIError, sqlite.library.Error) as error:
        raise explained(path, error) from error
    finally:
        engine.dispose()


def _schema(connection: sa.Connection) -> str:
    found = found_schema(connection)
    if found is None:
        raise DatabaseError("there is no database in it", remedy=_MADE_BY)
    return found


def _ensure_known(schema: str, revisions: ScriptDirectory) -> None:
    if schema not in {script.revision for script in revisions.walk_revisions()}:
        raise newer_schema(schema)


def _ensure_whole(connection: sa.Connection, newest: str) -> None:
    if found_schema(connection) != newest:
        raise DatabaseError(f"the upgrade to schema {newest} did not arrive there")
    loose = driver(connection).execute("PRAGMA foreign_key_check").fetchone()
    if loose is not None:
        raise DatabaseError(f"after the upgrade a row of {loose[0]} refers to nothing")


def _altered(connection: sa.Connection) -> list[str]:
    """Tables and indexes that are not as this version makes them: somebody has had a hand in it."""
    engine = sa.create_engine("sqlite://", module=sqlite.library)
    with engine.connect() as fresh:
        metadata.create_all(fresh)
        REVISIONS.create(fresh)
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
    foreign = [f"{name} is none of ours" for name in found if name.startswith(("trigger", "view"))]
    return sorted([*missing, *other, *foreign])


def _made_by(connection: sa.Connection) -> dict[str, str]:
    rows = driver(connection).execute(
        "SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    )
    return dict(rows.fetchall())
