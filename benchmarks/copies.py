"""Many runs that the product could have written, in a fraction of the time that it takes to run.

One run is really run. Its rows are written again under other run ids: every text that names the run
names the copy, and every record and head is sealed anew, chained as the product chains them. The
rows go through the journal's own statements, so that each constraint speaks, and `saga verify`
accepts them: a copy is a run of the same input at the same time. Only a run whose undos have no
intent yet can be copied: the digest of an undo covers a receipt that names the run.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from benchmarks.progress import Counter
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import StoredRun, load_history, read_stored
from saga.journal.projection import Row, seal_head
from saga.journal.records import seal_record
from saga.machine.state import RunState

__all__ = ["copy_run"]

_AT_ONCE = 500  # runs of one transaction
_Rows: TypeAlias = tuple[Row, list[Row], list[Row]]


@dataclass(slots=True)
class _Original:
    database: Database
    run_id: str
    state: RunState
    stored: StoredRun
    due: float | None

    def under(self, run_id: str) -> _Rows:
        """Its rows for another run: head, records, actions."""
        keys, seal, records = self.database.keys, "", list[Row]()
        for row in self.stored.records:
            renamed = self._renamed(row, run_id)
            _, seq, *_, body, _, _ = renamed
            seal = seal_record(keys, seal, run_id, seq, body)
            records.append((*renamed[:-1], seal))
        self.state.run_id = run_id
        head = {name: value for name, value in self.stored.head.items() if name != "instance"}
        version = self.stored.head["version"]
        head |= {
            "run_id": run_id,
            "seal": seal_head(keys, self.state, version, self.due, seal),
        }
        actions = [self._renamed(row, run_id) for row in self.stored.actions]
        return tuple(head.values()), records, actions

    def _renamed(self, row: Row, run_id: str) -> Row:
        return tuple(
            value.replace(self.run_id, run_id) if isinstance(value, str) else value for value in row
        )


def copy_run(database: Database, run_id: str, names: Iterable[str], total: int) -> None:
    """Write a run again under `total` other names. Its own occurs in nothing else that it says."""
    original = database.read(lambda connection: _read(connection, database, run_id))
    counter, done, left = Counter("writing runs", total), 0, iter(names)
    while batch := [original.under(name) for name in islice(left, _AT_ONCE)]:
        _write(database, batch)
        done += len(batch)
        counter.reached(done)


def _read(connection: Any, database: Database, run_id: str) -> _Original:
    stored = read_stored(connection, [run_id])[run_id]
    history = load_history(connection, database.keys, Specs(database.keys), run_id, stored)
    undone = [action for action in history.state.actions.values() if action.of_key is not None]
    assert not undone, "the digest of an undo names the run"
    assert not stored.cases, "the id of a case names the run"
    assert stored.turn is None, "a turn is one run's"
    assert history.owner is None, "somebody has it"
    return _Original(database, run_id, copy.copy(history.state), stored, history.due)


def _write(database: Database, batch: Sequence[_Rows]) -> None:
    statements = database.statements

    def work(connection: Any) -> None:
        cursor = driver(connection).cursor()
        statements.new_run.run(cursor, [head for head, _, _ in batch])
        statements.record.run(cursor, list(_flat(records for _, records, _ in batch)))
        statements.new_action.run(cursor, list(_flat(actions for _, _, actions in batch)))

    database.write(work)


def _flat(rows: Iterable[list[Row]]) -> Iterator[Row]:
    return (row for some in rows for row in some)
