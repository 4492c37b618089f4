"""The hot statements, compiled once from the tables and run on the driver's own cursor.

A row is a tuple in the order that each statement names; SQLAlchemy's work per row would cost more
than the rest of a transition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect

from saga.journal.projection import Row
from saga.journal.tables import actions, cases, journal, runs

__all__ = ["Statement", "Statements"]

_HEAD_VALUES = ("phase", "outcome", "cause", "version", "due_at", "ended_at", "key_id", "seal")
_ACTION_VALUES = ("state", "attempts", "receipt")
_CASE_VALUES = ("state", "version", "closed_at", "verdict", "actor", "reason", "evidence")


class Statement:
    """One statement with positional parameters."""

    def __init__(self, construct: sa.Executable, dialect: Dialect) -> None:
        compiled = construct.compile(dialect=dialect)  # type: ignore[attr-defined]
        self.sql = str(compiled)
        self.names: tuple[str, ...] = tuple(compiled.positiontup)

    def run(self, cursor: Any, rows: Sequence[Row]) -> int:
        """Execute for every row; the number of rows changed."""
        if not rows:
            return 0
        if len(rows) == 1:
            cursor.execute(self.sql, rows[0])
        else:
            cursor.executemany(self.sql, rows)
        return int(cursor.rowcount)


class Statements:
    """All of them, for one dialect.

    `head` takes the new values of a head, then run id, expected version, owner and fence: an
    owner's write. `head_release` also gives the run back; it is a statement of its own, since a
    column that is set has its indexes rewritten, changed or not. `head_by_anyone` takes no owner
    and fence. Inserts take whole rows in the order of the columns.
    """

    def __init__(self, dialect: Dialect) -> None:
        run: sa.BindParameter[Any] = sa.bindparam("the_run")
        expected: sa.BindParameter[Any] = sa.bindparam("expected")
        anyone = sa.and_(runs.c.run_id == run, runs.c.version == expected)
        mine = sa.and_(
            anyone,
            runs.c.owner == sa.bindparam("the_owner"),
            runs.c.fence == sa.bindparam("the_fence"),
        )
        self.head = Statement(_set(runs, _HEAD_VALUES).where(mine), dialect)
        self.head_release = Statement(
            _set(runs, _HEAD_VALUES, (runs.c.owner, sa.null())).where(mine), dialect
        )
        self.head_by_anyone = Statement(_set(runs, _HEAD_VALUES).where(anyone), dialect)
        self.new_run = Statement(sa.insert(runs), dialect)
        self.record = Statement(sa.insert(journal), dialect)
        self.new_action = Statement(sa.insert(actions), dialect)
        self.action = Statement(
            _set(actions, _ACTION_VALUES).where(actions.c.key == sa.bindparam("the_key")), dialect
        )
        self.new_case = Statement(sa.insert(cases), dialect)
        self.case = Statement(
            _set(cases, _CASE_VALUES).where(cases.c.case_id == sa.bindparam("the_case")), dialect
        )


def _set(
    table: sa.Table, names: Sequence[str], *fixed: tuple[sa.Column[Any], sa.Null]
) -> sa.Update:
    """An update of these columns, with the parameters in this order."""
    return sa.update(table).ordered_values(
        *((table.c[name], sa.bindparam(f"new_{name}")) for name in names), *fixed
    )
