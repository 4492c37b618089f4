"""Purging: runs that ended long ago go, and a tombstone of each stays.

A run is read and verified first, without holding anybody up; what is not whole, or still needed,
stays. Then a short transaction locks the heads, looks whether they are as they were, and replaces
all rows of these runs by tombstones. Whatever ends the process in between has purged whole runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import sqlalchemy as sa

from saga.errors import Tampered, UnknownRun
from saga.journal.backend import backend_of, driver
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.figures import count_runs
from saga.journal.history import load_history, read_stored
from saga.journal.pages import pages, portions
from saga.journal.projection import Row
from saga.journal.records import NewerFormat
from saga.journal.statements import Question, listed
from saga.journal.tables import actions, cases, journal, runs, turns
from saga.journal.tombstones import end_of_line, tombstone_of, tombstone_rows
from saga.machine.retention import Kept, needed_for
from saga.machine.state import RunState

__all__ = ["PurgeProgress", "Tally", "purge"]

PurgeProgress: TypeAlias = Callable[[int, int, int], None]
"""Called with the runs that were looked at, how many there are, and how many of them went."""

_COLUMNS = (runs.c.version, runs.c.saga, runs.c.phase, runs.c.ended_at, runs.c.quarantined_at)
_HEADS = Question(
    sa.select(runs.c.run_id, runs.c.version, runs.c.seal).where(
        runs.c.run_id.in_(listed("names")),
        runs.c.owner.is_(None),
        runs.c.quarantined_at.is_(None),
    )
)
_GONE = [
    Question(sa.delete(table).where(table.c.run_id.in_(listed("names"))))
    for table in (journal, actions, cases, turns, runs)
]


@dataclass(slots=True)
class Tally:
    """How many runs went, and how many were kept for which reason."""

    purged: int = 0
    kept: Counter[Kept] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that nothing needs any more, as it was when it was verified."""

    state: RunState
    version: int
    seal: str  # of its head


def purge(
    database: Database,
    *,
    before: float,
    saga: str | None,
    dry_run: bool,
    progress: PurgeProgress,
) -> Tally:
    """Purge the runs that ended before that time (unix seconds) and that nothing needs any more.

    `saga`: of this one only. `dry_run`: only count. Other runs than these are in no count.
    """
    specs, tally, done = Specs(database.keys), Tally(), 0
    total = sum(database.read(count_runs).values())
    for page in pages(database.read, *_COLUMNS):
        for ids in portions(_candidates(database, page, saga, before, tally.kept)):
            ready = _ready(database, specs, ids, before, tally.kept)
            tally.purged += len(ready) if dry_run else _purge(database, ready, tally.kept)
            progress(done, total, tally.purged)
        done += len(page)
        progress(done, max(done, total), tally.purged)
    return tally


def _candidates(
    database: Database,
    page: Sequence[Any],
    saga: str | None,
    before: float,
    kept: Counter[Kept],
) -> Iterator[tuple[str, object]]:
    """Those that may go by their heads, with their versions; the others are counted."""
    for run_id, version, name, phase, ended_at, mark in page:
        if saga is not None and name != saga:
            continue
        why = _by_head(phase, ended_at, mark, before)
        if why is None and database.backend.is_text(run_id):
            yield run_id, version
        else:
            kept[why or Kept.DAMAGED] += 1


def _by_head(phase: object, ended_at: object, mark: object, before: float) -> Kept | None:
    """Why a run is kept, as far as its head says it: that is not verified yet."""
    if mark is not None:
        return Kept.DAMAGED
    if phase != "ended":
        return Kept.RUNNING
    young = isinstance(ended_at, float) and ended_at >= before
    return Kept.YOUNG if young else None


def _ready(
    database: Database, specs: Specs, ids: Sequence[str], before: float, kept: Counter[Kept]
) -> list[_Ready]:
    """Those that may go, verified; the others are counted."""

    def work(connection: sa.Connection) -> list[_Ready | Kept]:
        found = read_stored(connection, ids)
        asked = (_judged(connection, database, specs, run_id, found, before) for run_id in ids)
        return [one for one in asked if one is not None]

    judged = database.read(work)
    kept.update(one for one in judged if isinstance(one, Kept))
    return [one for one in judged if isinstance(one, _Ready)]


def _judged(
    connection: sa.Connection,
    database: Database,
    specs: Specs,
    run_id: str,
    found: Any,
    before: float,
) -> _Ready | Kept | None:
    stored = found[run_id]
    try:
        history = load_history(connection, database.keys, specs, run_id, stored)
    except UnknownRun:
        return None  # somebody else has purged it
    except NewerFormat:
        return Kept.NEWER
    except Tampered:
        return Kept.DAMAGED
    state = history.state
    why = _by_head(state.phase, state.ended_at, history.quarantined_at, before)
    why = why or needed_for(history.spec, state, database.now())
    if why is None and history.owner is not None:
        why = Kept.OWNED
    return why or _Ready(state, history.version, stored.head["seal"])


def _purge(database: Database, ready: Sequence[_Ready], kept: Counter[Kept]) -> int:
    """Replace these runs by tombstones, unless somebody has written to them since; how many."""
    if not ready:
        return 0

    def work(connection: sa.Connection) -> list[Row]:
        return _replaced(connection, database, ready)

    def happened(connection: sa.Connection, rows: list[Row]) -> bool:
        if not rows:
            return True
        run_id, seal = rows[-1][1], rows[-1][-1]
        backend_of(connection).lock(connection, [run_id])  # wait for who may still be committing
        found = tombstone_of(connection, database.keys, run_id)
        return found is not None and found.seal == seal

    rows = database.write(work, happened)
    kept[Kept.OWNED] += len(ready) - len(rows)
    return len(rows)


def _replaced(connection: sa.Connection, database: Database, ready: Sequence[_Ready]) -> list[Row]:
    backend = backend_of(connection)
    names = [one.state.run_id for one in ready]
    backend.lock(connection, names)
    heads = {name: (version, seal) for name, version, seal in _HEADS.ask(connection, names=names)}
    states = [one.state for one in ready if heads.get(one.state.run_id) == (one.version, one.seal)]
    if not states:
        return []
    backend.alone(connection, "tombstones")
    rows = tombstone_rows(
        database.keys, database.instance, states, end_of_line(connection), database.now()
    )
    gone = {"names": [state.run_id for state in states]}
    with backend.together(connection):
        database.statements.new_tombstone.run(driver(connection).cursor(), rows)
        for question in _GONE:
            question.send(connection, gone)
    return rows
