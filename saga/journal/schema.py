"""The schema of a database: what it is, what it should be, and the way from one to the other.

Alembic owns the steps in between. All of them are one transaction, taken in turn with every other
writer: whoever is killed has changed nothing, and the second of two upgrades finds nothing to do.
Forwards only: a newer schema is refused. Where a database is not made by those who use it, the way
begins with nothing.
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
from saga.ids import Ids
from saga.journal.backend import Backend
from saga.journal.columns import metadata
from saga.journal.database import about, backend_for, explained
from saga.journal.identity import establish, identify
from saga.journal.making import REVISIONS, ensure_current, found_schema, newer_schema
from saga.journal.sealing import Keyring
from saga.journal.tables import SCHEMA

__all__ = ["SCRIPTS", "Condition", "check", "upgrade"]

_ROOM = Path(__file__).resolve().parents[1]
SCRIPTS = _ROOM / "_migrations"  # where the wheel has them
if not SCRIPTS.is_dir():
    SCRIPTS = _ROOM.parent / "migrations"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a database is and what it should be. `ok`: nothing needs to be done.

    `path` is where it is, `found` its schema (`None`: there is none). `journal_mode` and `sqlite`
    say how a file is written and by which library, `server` which server has it. `problems` say
    what is wrong, `remedy` what to do.
    """

    path: str
    found: str | None
    needed: str
    journal_mode: str | None = None
    sqlite: str | None = None
    server: str | None = None
    problems: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems


def check(url: str, keys: Keyring) -> Condition:
    """Look at the database that `url` names and change nothing."""
    backend = backend_for(url, Clock())
    found, facts, problems, remedy = None, backend.describe(None), list[str](), ""
    try:
        with _opened(backend) as connection:
            facts = backend.describe(connection)
            found = found_schema(connection)
            if found is None:
                raise _none_in(backend)
            ensure_current(found)
            problems += backend.differences(connection, [metadata, REVISIONS.metadata])
            identify(connection, keys)
    except DatabaseError as error:
        problems.append(error.message)
        remedy = error.remedy
    return Condition(backend.name, found, SCHEMA, problems=tuple(problems), remedy=remedy, **facts)


def upgrade(
    url: str,
    keys: Keyring,
    *,
    scripts: Path = SCRIPTS,
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> tuple[str | None, str]:
    """Bring the database to the newest schema of `scripts`; the schema before and after.

    Raises `DatabaseError`: no database, another application's, a newer schema, other keys. Then,
    and after any other error, nothing has changed.
    """
    backend = backend_for(url, clock or Clock())
    config = Config(attributes={})
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    revisions = ScriptDirectory.from_config(config)
    newest = str(revisions.get_current_head())
    with about(backend.name), _opened(backend) as connection, backend.turn.held():
        backend.begin_upgrade(connection)
        try:
            before = found_schema(connection)
            _ensure_upgradable(backend, before, revisions)
            if before != newest:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                _ensure_whole(backend, connection, newest)
            if before is None:
                establish(connection, keys, ids or Ids(), backend.clock.now())
            identify(connection, keys)
            backend.commit(connection)
        except BaseException:
            backend.rollback(connection)
            raise
    return before, newest


@contextmanager
def _opened(backend: Backend) -> Iterator[sa.Connection]:
    """A connection to what is there, whatever its schema."""
    backend.ensure_openable()
    engine = backend.engine(backend.connect)
    try:
        with engine.connect() as connection:
            yield connection
    except (OSError, sa.exc.DBAPIError, backend.error) as error:
        raise explained(backend, error) from error
    finally:
        engine.dispose()


def _none_in(backend: Backend) -> DatabaseError:
    return DatabaseError("there is no database in it", remedy=backend.made_by)


def _ensure_upgradable(backend: Backend, schema: str | None, revisions: ScriptDirectory) -> None:
    if schema is None:
        if not backend.may_be_made():
            raise _none_in(backend)
    elif schema not in {script.revision for script in revisions.walk_revisions()}:
        raise newer_schema(schema)


def _ensure_whole(backend: Backend, connection: sa.Connection, newest: str) -> None:
    if found_schema(connection) != newest:
        raise DatabaseError(f"the upgrade to schema {newest} did not arrive there")
    loose = backend.loose_end(connection)
    if loose is not None:
        raise DatabaseError(f"after the upgrade a row of {loose} refers to nothing")
