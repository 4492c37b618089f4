"""The hot statements, compiled once from the tables and run on the driver's own connection.

A row is a tuple in the order that each statement names; SQLAlchemy's work per row would cost more
than the rest of a transition. Many rows go into one statement: between two statements the driver
gives up the interpreter, and a thread that works would have it for milliseconds each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect

from saga.journal.projection import Row
from saga.journal.tables import actions, cases, journal, runs, turns

__all__ = ["Question", "Statement", "Statements", "listed"]

_HEAD_VALUES = (
    "phase",
    "outcome",
    "cause",
    "version",
    "due_at",
    "watch_until",
    "ended_at",
    "key_id",
    "seal",
)
_ACTION_VALUES = ("state", "attempts", "receipt")
_TURN_VALUES = ("state", "since")
_CASE_VALUES = ("state", "version", "closed_at", "verdict", "actor", "reason", "evidence")


_MOST = 64  # rows of one statement; there is one text for each power of two


class Statement:
    """One statement that takes rows: an insert, or an update joined to them."""

    def __init__(self, construct: sa.Executable, dialect: Dialect) -> None:
        sql = str(construct.compile(dialect=dialect))  # type: ignore[attr-defined]
        before, values, rest = sql.partition("VALUES ")
        row, end, after = rest.partition(")")
        self._texts = {
            size: f"{before}{values}{', '.join([row + end] * size)}{after}"
            for size in (2**n for n in range(_MOST.bit_length()))
        }

    def run(self, cursor: Any, rows: Sequence[Row]) -> int:
        """Execute for every row; the number of rows changed."""
        # Python's own sqlite3 has no count of rows for a statement that begins with WITH.
        before, at = cursor.connection.total_changes, 0
        while at < len(rows):
            size = min(_MOST, 1 << (len(rows) - at).bit_length() - 1)
            cursor.execute(self._texts[size], [*chain.from_iterable(rows[at : at + size])])
            at += size
        return int(cursor.connection.total_changes - before)


class Statements:
    """All of them, for one dialect.

    `head` takes the new values of a head, then run id, expected version, owner and fence: an
    owner's write. `head_release` also gives the run back; it is a statement of its own, since a
    column that is set has its indexes rewritten, changed or not. `head_by_anyone` takes no owner
    and fence. Inserts take whole rows in the order of the columns.
    """

    def __init__(self, dialect: Dialect) -> None:
        head = _rows(_HEAD_VALUES, "the_run", "expected", "the_owner", "the_fence")
        mine = sa.and_(
            runs.c.run_id == head.c.the_run,
            runs.c.version == head.c.expected,
            runs.c.owner == head.c.the_owner,
            runs.c.fence == head.c.the_fence,
        )
        update = _set(runs, _HEAD_VALUES, head).where(mine)
        self.head = Statement(update, dialect)
        self.head_release = Statement(update.values(owner=sa.null()), dialect)
        head = _rows(_HEAD_VALUES, "the_run", "expected")
        anyone = sa.and_(runs.c.run_id == head.c.the_run, runs.c.version == head.c.expected)
        self.head_by_anyone = Statement(_set(runs, _HEAD_VALUES, head).where(anyone), dialect)
        self.new_run = Statement(sa.insert(runs), dialect)
        self.record = Statement(sa.insert(journal), dialect)
        action = _rows(_ACTION_VALUES, "the_key")
        update = _set(actions, _ACTION_VALUES, action).where(actions.c.key == action.c.the_key)
        self.new_action = Statement(sa.insert(actions), dialect)
        self.action = Statement(update, dialect)
        case = _rows(_CASE_VALUES, "the_case")
        update = _set(cases, _CASE_VALUES, case).where(cases.c.case_id == case.c.the_case)
        self.new_case = Statement(sa.insert(cases), dialect)
        self.case = Statement(update, dialect)
        turn = _rows(_TURN_VALUES, "the_run")
        update = _set(turns, _TURN_VALUES, turn).where(turns.c.run_id == turn.c.the_run)
        self.new_turn = Statement(sa.insert(turns), dialect)
        self.turn = Statement(update, dialect)
        gone = _rows((), "the_run")
        over = sa.delete(turns).where(turns.c.run_id.in_(sa.select(gone.c.the_run)))
        self.turn_gone = Statement(over, dialect)


def listed(name: str) -> sa.BindParameter[Any]:
    """The list that a question is given under this name, for an `IN`."""
    return sa.bindparam(name, expanding=True)


class Question:
    """A query that is asked often: compiled for a dialect when it is first asked there."""

    def __init__(self, construct: sa.Executable) -> None:
        self._construct = construct
        self._compiled: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {}

    def ask(self, connection: sa.Connection, **values: Any) -> list[Row]:
        """The rows; a list among the values is for `listed`."""
        name = connection.dialect.name
        if name not in self._compiled:
            made = self._construct.compile(dialect=connection.dialect)  # type: ignore[attr-defined]
            self._compiled[name] = str(made), tuple(made.positiontup), dict(made.params)
        sql, names, fixed = self._compiled[name]
        parameters: list[Any] = []
        for name in names:
            value = values[name] if name in values else fixed[name]
            if isinstance(value, list):
                sql = sql.replace(f"__[POSTCOMPILE_{name}]", ", ".join("?" * len(value)))
                parameters += value
            else:
                parameters.append(value)
        driver: Any = connection.connection.driver_connection
        rows: list[Row] = driver.execute(sql, parameters).fetchall()
        return rows


def _rows(values: Sequence[str], *keys: str) -> sa.CTE:
    """What the rows of an update hold: the new values, then what says which row of the table."""
    names = [*(f"new_{name}" for name in values), *keys]
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in names]
    return sa.values(*columns, name="given").data([tuple(names)]).cte("given")


def _set(table: sa.Table, names: Sequence[str], given: sa.CTE) -> sa.Update:
    """An update of these columns to the new values of a row."""
    return sa.update(table).values({name: given.c[f"new_{name}"] for name in names})
