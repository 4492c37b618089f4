"""All laws that a database and a ledger can show, of every run: what a test ends with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saga.errors import Tampered, UnknownRun
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import History, load
from saga.journal.records import NewerFormat
from saga.journal.tombstones import tombstone_of
from saga.journal.watching import Seen, heads, open_cases, records_from, tuned_at
from saga.settings import Settings
from saga.testing.landed import Landing, landed_laws, read_ledger
from saga.testing.recorded import Finding, recorded_laws
from saga.testing.violation import Violation

__all__ = ["broken_laws", "check_laws"]


def check_laws(url: str, ledger: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """Compare a database with what really landed outside; the laws that do not hold.

    `ledger` has one dict per effect that landed, undos too, in landing order: `key`, `run_id`,
    `step`, `of_key` (of an undo: the key of what it takes back, else `None`) and `at` (unix
    seconds or ISO 8601). A verdict counts as that person's word. Raises `DatabaseError`.
    """
    database = Database(url, Settings().keyring())
    try:
        return broken_laws(database, ledger)
    finally:
        database.close()


def broken_laws(database: Database, ledger: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """As `check_laws`, for a database that is open."""
    by_run: dict[str, list[Landing]] = {}
    for landing in read_ledger(ledger):
        by_run.setdefault(landing.run_id, []).append(landing)
    return database.read(lambda connection: list(_all(connection, database, by_run)))


def _all(
    connection: Any, database: Database, by_run: Mapping[str, list[Landing]]
) -> Iterator[Violation]:
    specs, tuned = Specs(database.keys), tuned_at(connection)
    known = heads(connection)
    for head in known:
        since = tuned.get(head.definition, 0.0)
        landings = by_run.get(head.run_id, [])
        for law, detail in _of_run(connection, database, specs, head, since, landings):
            yield Violation(law, head.run_id, detail)
    missing = by_run.keys() - {head.run_id for head in known}
    for run_id in sorted(missing):
        purged = tombstone_of(connection, database.keys, run_id)
        for landing in by_run[run_id]:
            if purged is not None and landing.key in purged.keys:
                continue  # of a run that was purged only its keys are left
            yield Violation(1, run_id, f"{landing.key} landed for a run that is not there")


def _of_run(
    connection: Any,
    database: Database,
    specs: Specs,
    head: Seen,
    since: float,
    landings: Sequence[Landing],
) -> Iterator[Finding]:
    sequence = [one.seq for one in records_from(connection, head.run_id, 0)]
    if sequence != list(range(1, head.version + 1)):
        yield 5, f"version {head.version} with the records {sequence}"
    try:
        history = load(connection, database.keys, specs, head.run_id)
    except (Tampered, UnknownRun) as damage:
        yield 14, str(damage)
        return
    except NewerFormat:
        return  # not ours to judge
    cases = open_cases(connection, head.run_id)
    if len(set(cases)) != len(cases):
        yield 10, f"open cases: {', '.join(map(str, cases))}"
    waits = history.state.turn == "waits"  # whoever ends or parks another one frees it
    if not (history.state.rests or head.lives or head.due is not None or cases or waits):
        yield 4, "not at its end, and it has no live owner, no due time, no open case and no turn"
    fences = [record.fence for record in history.records if record.fence]
    if fences != sorted(fences) or (fences and fences[-1] > head.fence):
        yield 6, f"the fences of its records fall: {fences}, now {head.fence}"
    yield from recorded_laws(history.spec, history.records, since)
    yield from landed_laws(
        history.spec, history.state, history.records, landings, rests=_rests(history, cases)
    )


def _rests(history: History, cases: Sequence[object]) -> bool:
    """Nothing happens to it by itself: it has ended, or waits for a person only."""
    return history.state.rests or (bool(cases) and history.due is None)
