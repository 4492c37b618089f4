"""Pauses: what a person has stopped from starting. Probes and undos go on."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from saga.journal.statements import Question
from saga.journal.tables import pauses

__all__ = ["KINDS", "PAUSED", "Pause", "list_pauses", "pause", "resume"]

KINDS = ("saga", "effect", "provider")
PAUSED = Question(sa.select(pauses.c.kind, pauses.c.name))
"""Kind and name of each pause."""


@dataclass(frozen=True, slots=True)
class Pause:
    """No new forward calls of this saga, effect or provider. `at`: unix seconds."""

    kind: str
    name: str
    reason: str
    actor: str | None
    at: float


def pause(connection: sa.Connection, new: Pause) -> None:
    """Record a pause; the first reason stands if there is one already."""
    known = connection.execute(
        sa.select(pauses.c.name).where(pauses.c.kind == new.kind, pauses.c.name == new.name)
    ).scalar()
    if known is None:
        connection.execute(
            pauses.insert().values(
                kind=new.kind, name=new.name, reason=new.reason, actor=new.actor, at=new.at
            )
        )


def resume(connection: sa.Connection, kind: str, name: str) -> bool:
    """End a pause; whether there was one."""
    changed = connection.execute(
        pauses.delete().where(pauses.c.kind == kind, pauses.c.name == name)
    )
    return changed.rowcount == 1


def list_pauses(connection: sa.Connection) -> list[Pause]:
    """All of them, oldest first."""
    return [Pause(*row) for row in connection.execute(sa.select(pauses).order_by(pauses.c.at))]
