"""Figures for whoever watches over the whole database: what is due, late, open, damaged.

Heads and cases only, unverified; nothing here replays a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from saga.journal.quarantine import DAMAGED
from saga.journal.tables import cases, definitions, orchestrators, runs

__all__ = [
    "DueRun",
    "OpenCases",
    "TimedRuns",
    "count_runs",
    "damaged_runs",
    "due_runs",
    "open_cases",
    "open_run_ids",
    "orchestrator_of",
    "stored_definitions",
    "timed_runs",
]


@dataclass(frozen=True, slots=True)
class DueRun:
    """The oldest of the due runs of one saga and version, and how many there are."""

    saga: str
    version: int
    runs: int
    run_id: str
    due_at: float


@dataclass(frozen=True, slots=True)
class TimedRuns:
    """How many runs of one saga and version have a due time, and the first of these times."""

    saga: str
    version: int
    runs: int
    due_at: float


@dataclass(frozen=True, slots=True)
class OpenCases:
    """How many, and since when (unix seconds) the oldest one is open."""

    count: int
    oldest_at: float | None


def count_runs(connection: sa.Connection) -> dict[str, int]:
    """How many runs there are in each phase."""
    rows = connection.execute(sa.select(runs.c.phase, sa.func.count()).group_by(runs.c.phase))
    return {row[0]: row[1] for row in rows}


def due_runs(connection: sa.Connection, now: float, alive: Sequence[str]) -> list[DueRun]:
    """What an orchestrator should be moving: due, or left by one that is not `alive`."""
    left = sa.and_(runs.c.owner.is_not(None), runs.c.owner.not_in(list(alive)))
    moving = sa.and_(
        runs.c.quarantined_at.is_(None),
        runs.c.due_at.is_not(None),
        sa.or_(runs.c.due_at <= now, left),
    )
    rank = sa.func.row_number().over(
        partition_by=(runs.c.saga, runs.c.saga_version), order_by=(runs.c.due_at, runs.c.run_id)
    )
    count = sa.func.count().over(partition_by=(runs.c.saga, runs.c.saga_version))
    ranked = (
        sa.select(
            runs.c.saga,
            runs.c.saga_version,
            count.label("runs"),
            runs.c.run_id,
            runs.c.due_at,
            rank.label("rank"),
        )
        .where(moving)
        .subquery()
    )
    columns = (ranked.c.saga, ranked.c.saga_version, ranked.c.runs, ranked.c.run_id)
    select = sa.select(*columns, ranked.c.due_at).where(ranked.c.rank == 1)
    return [DueRun(*row) for row in connection.execute(select.order_by(ranked.c.due_at))]


def timed_runs(connection: sa.Connection) -> list[TimedRuns]:
    """What an orchestrator has to move, now or later, the earliest first; watched runs too."""
    first = sa.func.min(runs.c.due_at)
    select = (
        sa.select(runs.c.saga, runs.c.saga_version, sa.func.count(), first)
        .where(runs.c.quarantined_at.is_(None), runs.c.due_at.is_not(None))
        .group_by(runs.c.saga, runs.c.saga_version)
        .order_by(first)
    )
    return [TimedRuns(*row) for row in connection.execute(select)]


def open_cases(connection: sa.Connection) -> OpenCases:
    """The length of the queue."""
    row = connection.execute(
        sa.select(sa.func.count(), sa.func.min(cases.c.opened_at)).where(cases.c.state == "open")
    ).one()
    return OpenCases(*row)


def damaged_runs(connection: sa.Connection) -> list[str]:
    """Runs that were set aside and that nobody has decided on."""
    select = sa.select(cases.c.run_id).where(cases.c.state == "open", cases.c.kind == DAMAGED)
    return list(connection.execute(select.order_by(cases.c.run_id)).scalars())


def open_run_ids(connection: sa.Connection, limit: int) -> list[str]:
    """Runs that have not ended and are not set aside, the earliest due first."""
    select = (
        sa.select(runs.c.run_id)
        .where(runs.c.phase != "ended", runs.c.quarantined_at.is_(None))
        .order_by(runs.c.due_at, runs.c.run_id)
        .limit(limit)
    )
    return list(connection.execute(select).scalars())


def orchestrator_of(connection: sa.Connection, id_: str) -> Any:
    """The row of an orchestrator, dead or alive; `None` if there is none."""
    return connection.execute(sa.select(orchestrators).where(orchestrators.c.id == id_)).first()


def stored_definitions(connection: sa.Connection) -> list[tuple[str, int, str]]:
    """Saga, version and the JSON text of every stored definition, unverified."""
    columns = (definitions.c.saga, definitions.c.version, definitions.c.spec)
    select = sa.select(*columns).order_by(definitions.c.saga, definitions.c.version)
    return [(saga, version, spec) for saga, version, spec in connection.execute(select)]
