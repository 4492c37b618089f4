"""Questions to the tables that need no replay: lists, heads, who is alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import sqlalchemy as sa

from saga.journal.backend import backend_of
from saga.journal.statements import Question
from saga.journal.tables import actions, cases, journal, orchestrators, runs

__all__ = [
    "OrchestratorRow",
    "approval_runs",
    "case_rows",
    "head_of",
    "journal_rows",
    "live_orchestrators",
    "open_case_ids",
    "resting",
    "run_ids",
]


@dataclass(frozen=True, slots=True)
class OrchestratorRow:
    """A process that counts as alive. `beat_at` is when it last said so (unix seconds)."""

    id: str
    host: str
    pid: int
    sagas: str  # JSON list of name@version
    state: str
    beat_at: float
    lease: float
    stuck: int
    refused: str | None  # JSON: runs whose records the database does not take


_OPEN = sa.and_(cases.c.run_id == runs.c.run_id, cases.c.state == "open")
# Waits are intended and not sent too; no effect of another kind may be called so.
_WAITS = actions.c.effect.like("wait.%")
_FROZEN = sa.and_(
    runs.c.phase == "running",
    sa.exists().where(
        actions.c.run_id == runs.c.run_id, actions.c.state == "intended", sa.not_(_WAITS)
    ),
)
_ASKING = Question(sa.select(runs.c.run_id).where(_FROZEN).order_by(runs.c.run_id))
_RESTING = Question(
    sa.select(
        sa.or_(
            runs.c.phase == "ended",
            runs.c.quarantined_at.is_not(None),
            sa.exists().where(_OPEN),
        ),
        _FROZEN,
    ).where(runs.c.run_id == sa.bindparam("run_id"))
)


_LIVING = Question(
    sa.select(*(orchestrators.c[field.name] for field in fields(OrchestratorRow)))
    .where(orchestrators.c.state != "dead")
    .order_by(orchestrators.c.id)
)


def head_of(connection: sa.Connection, run_id: str) -> Any:
    """The row of a run as a mapping, unverified; `None` if there is none."""
    return connection.execute(sa.select(runs).where(runs.c.run_id == run_id)).mappings().first()


def resting(connection: sa.Connection, run_id: str) -> tuple[bool, bool] | None:
    """Whether a run has ended, is set aside or has a case; whether it may wait for an approval.

    `None` if there is no such run.
    """
    rows = _RESTING.ask(connection, run_id=run_id)
    return next(((bool(rests), bool(frozen)) for rests, frozen in rows), None)


def approval_runs(connection: Any) -> list[str]:
    """The running runs with an action that is frozen and not sent."""
    return [row[0] for row in _ASKING.ask(connection)]


def open_case_ids(connection: sa.Connection, run_id: str) -> tuple[str, ...]:
    """The open cases of a run, oldest first."""
    rows = connection.execute(
        sa.select(cases.c.case_id)
        .where(cases.c.run_id == run_id, cases.c.state == "open")
        .order_by(cases.c.opened_at, cases.c.case_id)
    )
    return tuple(row.case_id for row in rows)


def run_ids(
    connection: sa.Connection,
    *,
    phase: str | None,
    saga: str | None,
    limit: int,
    after: str | None,
) -> Sequence[str]:
    """Ids of runs, in the order of the ids, from the one after `after` on."""
    select = sa.select(runs.c.run_id).order_by(runs.c.run_id).limit(limit)
    if phase is not None:
        select = select.where(runs.c.phase == phase)
    if saga is not None:
        select = select.where(runs.c.saga == saga)
    if after is not None:
        select = select.where(runs.c.run_id > after)
    is_text = backend_of(connection).is_text
    return [run_id for run_id in connection.execute(select).scalars() if is_text(run_id)]


def case_rows(
    connection: sa.Connection, *, state: str | None = None, case_id: str | None = None
) -> Sequence[Any]:
    """Rows of cases, oldest first: those in a state, or the one with an id."""
    select = sa.select(cases).order_by(cases.c.opened_at, cases.c.case_id)
    if state is not None:
        select = select.where(cases.c.state == state)
    if case_id is not None:
        select = select.where(cases.c.case_id == case_id)
    return connection.execute(select).all()


def journal_rows(connection: sa.Connection, run_id: str) -> Sequence[Any]:
    """The records of a run as they are stored, unverified."""
    select = sa.select(journal).where(journal.c.run_id == run_id).order_by(journal.c.seq)
    return connection.execute(select).all()


def live_orchestrators(connection: sa.Connection, now: float) -> list[OrchestratorRow]:
    """Those whose last beat is younger than their lease, oldest id first."""
    found = [OrchestratorRow(*row) for row in _LIVING.ask(connection)]
    return [row for row in found if now - row.beat_at <= row.lease * 1.1]
