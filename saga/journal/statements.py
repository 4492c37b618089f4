"""The hot statements, compiled once from the tables and run on the driver's own connection.

A row is a tuple in the order that each statement names; SQLAlchemy's work per row would cost more
than the rest of a transition. How many rows become one statement is the backend's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from saga.journal.backend import Asked, Backend, Statement, backend_of
from saga.journal.projection import Row
from saga.journal.tables import actions, cases, journal, runs, tombstones, turns

__all__ = ["Nameable", "OneOf", "Question", "Statements", "ask_all", "listed"]

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


class Statements:
    """All of them, for one backend.

    `head` takes the new values of a head, then run id, expected version, owner and fence: an
    owner's write. `head_release` also gives the run back; it is a statement of its own, since a
    column that is set has its indexes rewritten, changed or not. `head_by_anyone` takes no owner
    and fence. Inserts take whole rows in the order of the columns.
    """

    def __init__(self, backend: Backend) -> None:
        head = _rows(runs, _HEAD_VALUES, the_run="run_id", expected="version", **_HOLD)
        mine = sa.and_(
            runs.c.run_id == head.c.the_run,
            runs.c.version == head.c.expected,
            # Not by the index of owners: one owner may have thousands of runs.
            runs.c.owner.is_not_distinct_from(head.c.the_owner),
            runs.c.fence == head.c.the_fence,
        )
        update = _set(runs, _HEAD_VALUES, head).where(mine)
        self.head = backend.statement(update, [*head.c])
        self.head_release = backend.statement(update.values(owner=sa.null()), [*head.c])
        head = _rows(runs, _HEAD_VALUES, the_run="run_id", expected="version")
        anyone = sa.and_(runs.c.run_id == head.c.the_run, runs.c.version == head.c.expected)
        update = _set(runs, _HEAD_VALUES, head).where(anyone)
        self.head_by_anyone = backend.statement(update, [*head.c])
        self.new_run = _insert(backend, runs)
        self.record = _insert(backend, journal)
        action = _rows(actions, _ACTION_VALUES, the_key="key")
        update = _set(actions, _ACTION_VALUES, action).where(actions.c.key == action.c.the_key)
        self.new_action = _insert(backend, actions)
        self.action = backend.statement(update, [*action.c])
        case = _rows(cases, _CASE_VALUES, the_case="case_id")
        update = _set(cases, _CASE_VALUES, case).where(cases.c.case_id == case.c.the_case)
        self.new_case = _insert(backend, cases)
        self.case = backend.statement(update, [*case.c])
        turn = _rows(turns, _TURN_VALUES, the_run="run_id")
        update = _set(turns, _TURN_VALUES, turn).where(turns.c.run_id == turn.c.the_run)
        self.new_turn = _insert(backend, turns)
        self.turn = backend.statement(update, [*turn.c])
        gone = _rows(turns, (), the_run="run_id")
        over = sa.delete(turns).where(turns.c.run_id.in_(sa.select(gone.c.the_run)))
        self.turn_gone = backend.statement(over, [*gone.c])
        self.new_tombstone = _insert(backend, tombstones)


_HOLD = {"the_owner": "owner", "the_fence": "fence"}


def _insert(backend: Backend, table: sa.Table) -> Statement:
    return backend.statement(sa.insert(table), [*table.c])


def _rows(table: sa.Table, values: Sequence[str], **keys: str) -> sa.CTE:
    """What the rows of an update hold: the new values, then what says which row of the table."""
    names = {f"new_{name}": name for name in values} | keys
    columns = [sa.column(name, table.c[of].type) for name, of in names.items()]
    return sa.values(*columns, name="given").data([tuple(names)]).cte("given")


def _set(table: sa.Table, names: Sequence[str], given: sa.CTE) -> sa.Update:
    """An update of these columns to the new values of a row."""
    return sa.update(table).values({name: given.c[f"new_{name}"] for name in names})


def listed(name: str) -> sa.BindParameter[Any]:
    """The list that a question is given under this name, for an `IN`."""
    return sa.bindparam(name, expanding=True)


class Nameable(sa.ColumnElement[bool]):
    """Whether what stands in a column of ids can be named in another statement."""

    inherit_cache: bool | None = False
    type: sa.types.TypeEngine[bool] = sa.Boolean()

    def __init__(self, column: sa.ColumnElement[str]) -> None:
        self.column = column


class OneOf(sa.ColumnElement[bool]):
    """Whether what stands in a column is one of those that a query finds.

    The query is asked for each row of the one around it. A plain `IN` would do, were it not that
    PostgreSQL then goes through the whole table.
    """

    inherit_cache: bool | None = False
    type: sa.types.TypeEngine[bool] = sa.Boolean()

    def __init__(self, column: sa.ColumnElement[str], found: sa.Select[Any]) -> None:
        self.column = column
        self.found = found.scalar_subquery()

    def self_group(self, against: Any = None) -> Any:  # noqa: ARG002  as in SQLAlchemy
        return self  # no comparison with TRUE, which would hide it from the planner


class Question:
    """A query that is asked often: compiled for a kind of database when it is first asked there."""

    def __init__(self, construct: sa.Executable) -> None:
        self._construct = construct
        self._asked: dict[str, Asked] = {}

    def ask(self, connection: sa.Connection, **values: Any) -> list[Row]:
        """The rows; a list among the values is for `listed`."""
        rows: list[Row] = self.send(connection, values).fetchall()
        return rows

    def send(self, connection: sa.Connection, values: dict[str, Any]) -> Any:
        """Ask, and leave the rows with the cursor that is given back."""
        name = connection.dialect.name
        if name not in self._asked:
            self._asked[name] = backend_of(connection).question(self._construct)
        return self._asked[name](connection.connection.driver_connection, values)


def ask_all(connection: sa.Connection, *asked: tuple[Question, dict[str, Any]]) -> list[list[Row]]:
    """The rows of several questions, none of which changes anything, in one go."""
    with backend_of(connection).together(connection):
        cursors = [question.send(connection, values) for question, values in asked]
    return [cursor.fetchall() for cursor in cursors]  # in there each would be waited for
