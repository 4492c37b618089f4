"""How a database comes to be: the whole schema, its revision and its name in one transaction.

A making that is interrupted leaves no database, never half of one. Tables that are not ours are
never added to.
"""

from __future__ import annotations

import sqlalchemy as sa

from saga.errors import DatabaseError
from saga.ids import Ids
from saga.journal.columns import metadata
from saga.journal.identity import establish
from saga.journal.sealing import Keyring
from saga.journal.tables import SCHEMA, instance

__all__ = ["REVISIONS", "ensure_current", "fill", "found_schema", "newer_schema"]

# As Alembic makes it, so that a new database and an upgraded one are the same.
REVISIONS = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def fill(connection: sa.Connection, keys: Keyring, ids: Ids, now: float) -> None:
    """Make everything, in the write transaction that the caller holds."""
    metadata.create_all(connection)
    REVISIONS.create(connection)
    connection.execute(REVISIONS.insert().values(version_num=SCHEMA))
    establish(connection, keys, ids, now)


def found_schema(connection: sa.Connection) -> str | None:
    """The revision of what is there; `None` if nothing is. Raises `DatabaseError`."""
    names = set(sa.inspect(connection).get_table_names())
    if not names:
        return None
    if not {REVISIONS.name, instance.name} <= names:
        raise DatabaseError(
            "it holds tables of something else and no saga database",
            remedy="give saga a database of its own",
        )
    revisions = connection.execute(sa.select(REVISIONS.c.version_num)).scalars().all()
    if len(revisions) != 1:
        raise DatabaseError(f"it has {len(revisions)} schema revisions where one is right")
    return str(revisions[0])


def ensure_current(schema: str) -> None:
    """Raise `DatabaseError` unless this is the schema that this version of saga reads and writes.

    Revisions are numbered, so a higher one is of a newer version.
    """
    if schema > SCHEMA:
        raise newer_schema(schema)
    if schema < SCHEMA:
        raise DatabaseError(
            f"it has schema {schema} and this version of saga needs {SCHEMA}",
            remedy="run: saga db upgrade",
        )


def newer_schema(schema: str) -> DatabaseError:
    """The error for a schema that this version of saga has never heard of."""
    return DatabaseError(
        f"it has schema {schema!a}, which this version of saga does not know (it knows {SCHEMA})",
        remedy="run the newer version of saga that made it",
    )
