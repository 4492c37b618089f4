"""Purging by request: how long ago is long enough, and what became of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from saga.definition.names import RUN_ID_MAX, check_id
from saga.definition.tuning import Duration
from saga.errors import BadInput
from saga.inquiries.runs import duration
from saga.inquiries.source import Source
from saga.journal.figures import stored_definitions
from saga.journal.purge import PurgeProgress, purge
from saga.views import since

__all__ = ["Purge", "purged"]


@dataclass(frozen=True, slots=True)
class Purge:
    """What came of a purge. `runs` went, or would go if it was a `dry_run`; those that ended before
    `before` could. `kept` counts the others by reason: running, young, owned, case, watch, key,
    damaged, newer.
    """

    runs: int
    kept: dict[str, int]
    before: datetime
    dry_run: bool


def purged(
    source: Source,
    older_than: Duration,
    *,
    saga: str | None,
    dry_run: bool,
    progress: PurgeProgress | None,
) -> Purge:
    """Purge what ended longer ago than that. Raises `BadInput`."""
    age = duration("older_than", older_than) or 0.0
    database = source.database()
    if saga is not None:
        _ensure_known(source, check_id("saga name", saga, RUN_ID_MAX))
    before = database.now() - age
    tally = purge(
        database,
        before=before,
        saga=saga,
        dry_run=dry_run,
        progress=progress or _silent,
    )
    kept = {why.value: count for why, count in sorted(tally.kept.items()) if count}
    return Purge(tally.purged, kept, since(before), dry_run)


def _ensure_known(source: Source, saga: str) -> None:
    known = {name for name, _, _ in source.read(stored_definitions)}
    if saga not in known:
        raise BadInput(
            f"no run of a saga {saga!a} was ever started in this database",
            remedy=f"one of {', '.join(sorted(known)) or 'none: it is empty'}",
        )


def _silent(done: int, total: int, gone: int) -> None:
    """Nobody asks how far it is."""
