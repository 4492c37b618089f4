"""Turns as they are stored: who has the turn of a resource, who waits for it, who is next.

A row is there for as long as its run is exclusive about something and has not ended. It is written
with the records that say so, so no crash leaves a turn that nobody has: what ends a run frees its
resource in the same transaction. The index of those that hold is unique: nothing can make two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from saga.journal.projection import TurnChange
from saga.journal.statements import Question, Statements, listed
from saga.journal.tables import runs, turns

__all__ = ["Line", "give_up_turn", "is_free", "line_of", "next_in_turn", "write_turns"]

_ONE = sa.and_(
    turns.c.tenant == sa.bindparam("tenant"), turns.c.resource == sa.bindparam("resource")
)
_BUSY = Question(sa.select(turns.c.run_id).where(_ONE, turns.c.state.in_(["holds", "waits"])))

_waiting = (
    sa.select(turns.c.tenant, turns.c.resource).where(turns.c.state == "waits").distinct()
).subquery("waiting")
_holder, _first = turns.alias("holder"), turns.alias("first")
# The first that waits of those that we can take: one that nobody can run keeps no other waiting.
_NEXT_OF = (
    sa.select(_first.c.run_id)
    .join(runs, runs.c.run_id == _first.c.run_id)
    .where(
        _first.c.state == "waits",
        _first.c.tenant == _waiting.c.tenant,
        _first.c.resource == _waiting.c.resource,
        runs.c.owner.is_(None),
        runs.c.quarantined_at.is_(None),
        runs.c.definition.in_(listed("digests")),
        runs.c.run_id.not_in(listed("skip")),
    )
    .order_by(_first.c.started_at, _first.c.run_id)
    .limit(1)
    .correlate(_waiting)
    .scalar_subquery()
)
_FREE = (
    sa.select(_NEXT_OF.label("run_id"))
    .select_from(_waiting)
    .where(
        ~sa.exists().where(
            _holder.c.state == "holds",
            _holder.c.tenant == _waiting.c.tenant,
            _holder.c.resource == _waiting.c.resource,
        )
    )
).subquery("free")
_NEXT = Question(
    sa.select(_FREE.c.run_id).where(_FREE.c.run_id.is_not(None)).limit(sa.bindparam("limit"))
)


@dataclass(frozen=True, slots=True)
class Line:
    """Who stands in line for a resource before a run: the one that has the turn, and how many.

    `since`: when it took the turn (unix seconds).
    """

    holder: str | None
    since: float
    before: int


def write_turns(cursor: Any, statements: Statements, changes: Sequence[TurnChange]) -> None:
    """Write what records say of turns: what frees a resource before what takes one."""
    statements.turn_gone.run(cursor, [one.row for one in changes if one.kind == "gone"])
    statements.turn.run(cursor, [one.row for one in changes if one.kind == "set"])
    statements.new_turn.run(cursor, [one.row for one in changes if one.kind == "new"])


def is_free(connection: sa.Connection, tenant: str, resource: str) -> bool:
    """Whether nobody has the turn of a resource, or waits for it."""
    return not _BUSY.ask(connection, tenant=tenant, resource=resource)


def next_in_turn(
    connection: sa.Connection, digests: Collection[str], skip: Collection[str], limit: int
) -> list[str]:
    """The runs whose turn it is: nobody has that of their resource, and they wait for longest.

    `digests` and `skip` are as in `claim`.
    """
    if limit <= 0:
        return []
    rows = _NEXT.ask(connection, digests=list(digests), skip=list(skip), limit=limit)
    return [run_id for (run_id,) in rows]


def line_of(connection: sa.Connection, run_id: str) -> Line | None:
    """Who stands before a run that waits for its turn; `None` if it is in no line."""
    own = connection.execute(sa.select(turns).where(turns.c.run_id == run_id)).first()
    if own is None:
        return None
    there = sa.select(turns.c.run_id, turns.c.state, turns.c.since, turns.c.started_at).where(
        turns.c.tenant == own.tenant, turns.c.resource == own.resource
    )
    rows = connection.execute(there).all()
    holder = next((row for row in rows if row.state == "holds"), None)
    place = (own.started_at, own.run_id)
    before = [row for row in rows if row.state == "waits" and (row.started_at, row.run_id) < place]
    return Line(
        None if holder is None else holder.run_id,
        0.0 if holder is None else holder.since,
        len(before),
    )


def give_up_turn(connection: sa.Connection, run_id: str) -> None:
    """A damaged run stays aside for good: others need not wait for it."""
    connection.execute(turns.delete().where(turns.c.run_id == run_id))
