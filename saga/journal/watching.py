"""What an observer asks, often and by a connection of its own: the heads, and what is new.

It sees what is durable and nothing else, so what it sees before a call is what a new owner would
find after a crash in that call. The statements are as plain as they are frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from saga.journal.database import driver

__all__ = ["Seen", "SeenRecord", "heads", "open_cases", "records_from", "tuned_at"]


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
    rows = driver(connection).execute(
        "SELECT r.run_id, r.definition, r.version, r.fence, r.owner, o.state, r.due_at FROM runs r"
        " LEFT JOIN orchestrators o ON o.id = r.owner WHERE ? IS NULL OR r.run_id = ?"
        " ORDER BY r.run_id",
        (run_id, run_id),
    )
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
    rows = driver(connection).execute(
        "SELECT seq, body, key_id, seal FROM journal WHERE run_id = ? AND seq >= ? ORDER BY seq",
        (run_id, seq),
    )
    return [SeenRecord(*row) for row in rows]


def open_cases(connection: sa.Connection, run_id: str) -> list[tuple[str | None, str | None]]:
    """What the open cases of a run are about: the action, or the kind where there is none."""
    rows = driver(connection).execute(
        "SELECT key, CASE WHEN key IS NULL THEN kind END FROM cases"
        " WHERE run_id = ? AND state = 'open'",
        (run_id,),
    )
    return [(key, kind) for key, kind in rows]


def tuned_at(connection: sa.Connection) -> dict[str, float]:
    """Since when each definition, by digest, has the tuning that is stored (unix seconds)."""
    return dict(driver(connection).execute("SELECT digest, stored_at FROM definitions").fetchall())
