"""What the tables are made of: their names, their column types, the conditions that recur.

Column types are those that SQLite's STRICT tables know; times are REAL unix seconds, UTC. JSON is
stored as the exact text that was written, never as a database's own JSON type, which would change
it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = ["ROOM", "metadata", "one_of", "real", "table", "text", "whole"]

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# On PostgreSQL: ids in the order of their bytes, whatever the locale, and integers of any size.
text: sa.types.TypeEngine[str] = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
whole: sa.types.TypeEngine[int] = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
real: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.Double(), "postgresql")

ROOM = {"fillfactor": 50}
"""For a table of PostgreSQL whose rows are rewritten while a run goes on.

With room in its own page a new version of a row needs less WAL, where no indexed column changes no
entry in an index, and what the old one leaves is used again without a vacuum.
"""


def table(name: str, *items: sa.schema.SchemaItem, rowid: bool = True, **more: Any) -> sa.Table:
    """A table of ours, strict where a database can be so."""
    return sa.Table(name, metadata, *items, sqlite_strict=True, sqlite_with_rowid=rowid, **more)


def one_of(column: str, *values: str) -> sa.CheckConstraint:
    """A column holds one of these, or nothing."""
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=column)
