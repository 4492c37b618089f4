"""Who is alive to move a run, and what to say when nobody is.

An orchestrator is alive if its last beat is younger than its lease and its life lock is held: on
this machine a killed process is seen at once, not after its lease.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from saga.inquiries.source import Source
from saga.journal.inquiry import OrchestratorRow, live_orchestrators
from saga.views import since

__all__ = ["START_ONE", "OrchestratorView", "Refusal", "alive", "nobody_runs", "of_saga"]

START_ONE = "saga orchestrator APP"
"""The command of the notice; a surface that knows the app puts it in the place of APP."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """How often the database has refused the next record of a run, what it said, the next try."""

    times: int
    text: str
    again_at: datetime


@dataclass(frozen=True, slots=True)
class OrchestratorView:
    """A live orchestrator. `sagas` are name@version; `stuck` counts sync calls without an end.

    `refused`: by run id, the records that the database did not take from it.
    """

    id: str
    host: str
    pid: int
    sagas: tuple[str, ...]
    beat_at: datetime
    lease: float  # seconds
    stuck: int
    refused: dict[str, Refusal]


def alive(connection: Any, source: Source) -> list[OrchestratorView]:
    """Those that claim runs now: not dead, not leaving, beating."""
    rows = live_orchestrators(connection, source.now())
    return [_view(row) for row in rows if row.state == "alive" and not _gone(row, source)]


def of_saga(live: Sequence[OrchestratorView], saga: str, version: int) -> list[OrchestratorView]:
    """Those of them that run this saga."""
    return [one for one in live if f"{saga}@{version}" in one.sagas]


def nobody_runs(saga: str, version: int) -> str:
    """The notice that a run of this saga is not being moved, with the command."""
    return f"no live orchestrator runs {saga}@{version}; start one: {START_ONE}"


def _gone(row: OrchestratorRow, source: Source) -> bool:
    if row.host != socket.gethostname():
        return False
    try:
        return source.database().backend.is_gone(row.id)
    except OSError:
        return False  # we may not look at its lock: the beat alone has to do


def _view(row: OrchestratorRow) -> OrchestratorView:
    return OrchestratorView(
        id=row.id,
        host=row.host,
        pid=row.pid,
        sagas=tuple(json.loads(row.sagas)),
        beat_at=since(row.beat_at),
        lease=row.lease,
        stuck=row.stuck,
        refused={
            run_id: Refusal(one["times"], one["text"], since(one["again_at"]))
            for run_id, one in json.loads(row.refused or "{}").items()
        },
    )
