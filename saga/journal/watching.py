"""What an observer asks, often and by a connection of its own: the heads, and what is new.

It sees what is durable and nothing else, so what it sees before a call is what a new owner would
find after a crash in that call. The statements are as plain as they are frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from saga.journal.statements import Question
from saga.journal.tables import cases, definitions, journal, orchestrators, runs

__all__ = ["Seen", "SeenRecord", "heads", "open_cases", "records_from", "tuned_at"]


_HEADS = sa.select(
    runs.c.run_id,
    runs.c.definition,
    runs.c.version,
    runs.c.fence,
    runs.c.owner,
    orchestrators.c.state,
    runs.c.due_at,
).select_from(runs.outerjoin(orchestrators, orchestrators.c.id == runs.c.owner))
_ALL = Question(_HEADS.order_by(runs.c.run_id))
_ONE = Question(_HEADS.where(runs.c.run_id == sa.bindparam("run_id")))
_RECORDS = Question(
    sa.select(journal.c.seq, journal.c.body, journal.c.key_id, journal.c.seal)
    .where(journal.c.run_id == sa.bindparam("run_id"), journal.c.seq >= sa.bindparam("seq"))
    .order_by(journal.c.seq)
)
_OPEN = Question(
    sa.select(cases.c.key, sa.case((cases.c.key.is_(None), cases.c.kind))).where(
        cases.c.run_id == sa.bindparam("run_id"), cases.c.state == "open"
    )
)
_TUNED = Question(sa.select(definitions.c.digest, definitions.c.stored_at))


@dataclass(frozen=True, slots=True)
class Seen:
    """A run's head, as it is stored. `lives`: its owner is not known to be dead; `None` without."""

    run_id: str
    definition: str
    version: int
    fence: int
    owner: str | None
    lives: bool | None
    due: float | None


@dataclass(frozen=True, slots=True)
class SeenRecord:
    """A record, as it is stored."""

    seq: int
    body: str
    key_id: str
    seal: str


def heads(connection: sa.Connection, run_id: str | None = None) -> list[Seen]:
    """The heads of all runs, or of one, by id."""
    rows = _ALL.ask(connection) if run_id is None else _ONE.ask(connection, run_id=run_id)
    return [
        Seen(
            run_id,
            definition,
            version,
            fence,
            owner,
            None if owner is None else state not in (None, "dead"),
            due,
        )
        for run_id, definition, version, fence, owner, state, due in rows
    ]


def records_from(connection: sa.Connection, run_id: str, seq: int) -> list[SeenRecord]:
    """The records of a run from `seq` on."""
    rows = _RECORDS.ask(connection, run_id=run_id, seq=seq)
    return [SeenRecord(*row) for row in rows]


def open_cases(connection: sa.Connection, run_id: str) -> list[tuple[str | None, str | None]]:
    """What the open cases of a run are about: the action, or the kind where there is none."""
    rows = _OPEN.ask(connection, run_id=run_id)
    return [(key, kind) for key, kind in rows]


def tuned_at(connection: sa.Connection) -> dict[str, float]:
    """Since when each definition, by digest, has the tuning that is stored (unix seconds)."""
    return dict(_TUNED.ask(connection))
