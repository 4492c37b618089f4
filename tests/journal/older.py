"""Rows as they were at an earlier record: genuine, sealed by the same key, and put back now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saga.journal.columns import metadata
from saga.journal.definitions import Specs
from saga.journal.history import load
from saga.journal.projection import action_row, case_row, head_row, seal_head
from saga.journal.sealing import Keyring
from saga.machine.evolve import evolve
from saga.machine.state import new_state
from tests.journal.changes import Change, Statement

__all__ = ["older_rows", "rollback"]


def older_rows(connection: Any, cursor: Any, keys: Keyring, run_id: str) -> Iterator[Change]:
    """Each row of a run replaced by each of its earlier selves, one at a time."""
    for seq, versions in enumerate(_versions(connection, cursor, keys, run_id), start=1):
        for table, own_key, row in versions:
            names = metadata.tables[table].c.keys()
            found = cursor.execute(f"SELECT * FROM {table} WHERE {own_key} = ?", (row[own_key],))
            if dict(zip(names, found.fetchone(), strict=True)) == row:
                continue
            sets = ", ".join(f"{name} = ?" for name in row)
            statement = f"UPDATE {table} SET {sets} WHERE {own_key} = ?"
            yield Change(
                f"{table}: older",
                f"{table} {row[own_key]} as it was at record {seq}",
                ((statement, (*row.values(), row[own_key])),),
                (run_id,),
                (run_id,),
            )


def rollback(connection: Any, cursor: Any, keys: Keyring, run_id: str, seq: int) -> Change:
    """All rows of a run as they were at a record: what nobody can tell from the truth."""
    versions = list(_versions(connection, cursor, keys, run_id))[seq - 1]
    statements: list[Statement] = [
        ("DELETE FROM journal WHERE run_id = ? AND seq > ?", (run_id, seq)),
        ("DELETE FROM actions WHERE run_id = ?", (run_id,)),
        ("DELETE FROM cases WHERE run_id = ?", (run_id,)),
    ]
    for table, own_key, row in versions:
        marks = ", ".join("?" * len(row))
        if table == "runs":
            sets = ", ".join(f"{name} = ?" for name in row)
            update = f"UPDATE runs SET {sets} WHERE {own_key} = ?"
            statements.append((update, (*row.values(), run_id)))
        else:
            insert = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
            statements.append((insert, tuple(row.values())))
    return Change("rolled back", f"{run_id} at record {seq}", tuple(statements), (), ())


def _versions(
    connection: Any, cursor: Any, keys: Keyring, run_id: str
) -> Iterator[list[tuple[str, str, dict[str, Any]]]]:
    """After each record: (table, its key column, row) of head, actions and cases."""
    history = load(connection, keys, Specs(keys), run_id)
    select = "SELECT seal FROM journal WHERE run_id = ? ORDER BY seq"
    seals = cursor.execute(select, (run_id,)).fetchall()
    state = new_state(history.spec)
    columns = {table: metadata.tables[table].c.keys() for table in ("runs", "actions", "cases")}
    head = cursor.execute("SELECT * FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    now = dict(zip(columns["runs"], head, strict=True))
    for record, (seal,) in zip(history.records, seals, strict=True):
        for event in record.events:
            evolve(state, event, record.at)
        values = head_row(state, record.seq, record.due)
        values["seal"] = seal_head(keys, state, record.seq, record.due, seal)
        row = {**now, **values}
        yield [
            ("runs", "run_id", row),
            *(
                ("actions", "key", dict(zip(columns["actions"], action_row(state, a), strict=True)))
                for a in state.actions.values()
            ),
            *(
                ("cases", "case_id", dict(zip(columns["cases"], case_row(state, c), strict=True)))
                for c in state.cases.values()
            ),
        ]
