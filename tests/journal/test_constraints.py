"""What the tables insist on is what the machine promises: wherever a saga can go, they follow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from saga.journal.columns import metadata
from saga.journal.projection import Row, action_row, case_row, head_row
from saga.journal.sqlite import library
from saga.journal.tables import actions, cases, runs
from tests.databases import Databases, files_only
from tests.machine.walk import Node, Walk
from tests.machine.walks import WALKS

SOME = 30  # walks of more than a hundred; all of them take minutes


@dataclass(slots=True)
class Rows(Walk):
    """A walk that keeps one row of each shape that it comes by."""

    shapes: dict[tuple[str, Any], Row] = field(default_factory=dict)

    def look(self, node: Node) -> None:
        state = node.state
        head = {**head_row(state, 1, 1.0), "fence": 1, "owner": None, "quarantined_at": None}
        head |= {"key_id": "", "seal": ""}
        row = tuple(head[column.name] for column in runs.c)
        self._keep("runs", (state.phase, state.outcome, state.cause), row)
        for action in state.actions.values():
            row = action_row(state, action)
            shape = (action.direction, action.state, action.attempts > 0, row[-1] is None)
            self._keep("actions", shape, row)
        for case in state.cases.values():
            row = case_row(state, case)
            self._keep("cases", (row[5], row[6], row[7], row[11], row[12] is None), row)

    def _keep(self, table: str, shape: Any, row: Row) -> None:
        self.shapes.setdefault((table, shape), row)


@pytest.fixture
def empty(databases: Databases) -> Iterator[sa.Connection]:
    """The tables, and no foreign keys: a row stands for itself here."""
    if databases.kind == "sqlite":
        engine = sa.create_engine("sqlite://", module=library)
    else:
        url = databases.empty()
        engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url))
    with engine.connect() as connection:
        metadata.create_all(connection)
        if databases.kind != "sqlite":
            connection.exec_driver_sql("SET session_replication_role = replica")
        yield connection
    engine.dispose()


@contextmanager
def refused(connection: sa.Connection, why: str) -> Iterator[None]:
    """What is done in here is refused, and leaves the transaction as it was."""
    with pytest.raises(sa.exc.IntegrityError, match=why), connection.begin_nested():
        yield


CHECK = "CHECK constraint failed|violates check constraint"
UNIQUE = "UNIQUE constraint failed|violates unique constraint"


def shapes() -> dict[tuple[str, Any], Row]:
    found: dict[tuple[str, Any], Row] = {}
    for name in list(WALKS)[:: len(WALKS) // SOME]:
        walk = WALKS[name]
        rows = Rows(walk.spec, walk.budget, walk.threaded)
        rows.run()
        found |= rows.shapes
    return found


def test_every_row_that_the_machine_can_come_to_is_taken(empty: sa.Connection) -> None:
    found = shapes()
    assert len(found) > 40
    for (table, shape), row in found.items():
        with empty.begin_nested() as nested:
            try:
                empty.execute(metadata.tables[table].insert().values(row))
            except sa.exc.IntegrityError as error:
                pytest.fail(f"{table} refuses {shape}: {error.orig}")
            nested.rollback()


HEAD = dict(zip((c.name for c in runs.c), ("r", "", "s", 1, "d", "running"), strict=False)) | {
    "version": 1,
    "fence": 1,
    "started_at": 1.0,
    "key_id": "",
    "seal": "",
}
ENDED = {**HEAD, "phase": "ended", "outcome": "completed", "ended_at": 2.0}
ACTION = {
    "key": "k",
    "run_id": "r",
    "step": "s",
    "direction": "forward",
    "generation": 1,
    "effect": "e",
    "effect_version": 1,
    "target": "-",
    "digest": "d",
    "state": "intended",
    "attempts": 0,
    "intent": "{}",
}
CASE = {
    "case_id": "c",
    "run_id": "r",
    "key": "k",
    "kind": "unknown",
    "state": "open",
    "version": 1,
    "opened_at": 1.0,
}
REFUSED: list[tuple[sa.Table, dict[str, Any]]] = [
    (runs, HEAD | {"phase": "waiting"}),
    (runs, HEAD | {"outcome": "completed"}),
    (runs, HEAD | {"ended_at": 2.0}),
    (runs, HEAD | {"cause": "refused"}),
    (runs, HEAD | {"phase": "compensating"}),
    (runs, HEAD | {"phase": "compensating", "cause": "bad luck"}),
    (runs, HEAD | {"version": 0}),
    (runs, HEAD | {"fence": 0}),
    (runs, HEAD | {"run_id": ""}),
    (runs, HEAD | {"run_id": "r" * 129}),
    (runs, HEAD | {"quarantined_at": 1.0, "owner": "somebody"}),
    (runs, ENDED | {"outcome": None}),
    (runs, ENDED | {"ended_at": None}),
    (runs, ENDED | {"outcome": "done"}),
    (runs, ENDED | {"outcome": "compensated"}),
    (actions, ACTION | {"state": "landed"}),
    (actions, ACTION | {"state": "done"}),
    (actions, ACTION | {"direction": "back"}),
    (actions, ACTION | {"attempts": 1}),
    (actions, ACTION | {"attempts": -1, "state": "refused"}),
    (actions, ACTION | {"state": "sending"}),
    (actions, ACTION | {"state": "unknown"}),
    (actions, ACTION | {"generation": 0}),
    (actions, ACTION | {"key": ""}),
    (actions, ACTION | {"key": "k" * 256}),
    (cases, CASE | {"state": "closed"}),
    (cases, CASE | {"closed_at": 2.0}),
    (cases, CASE | {"state": "closed", "closed_at": 2.0, "verdict": "accept"}),
    (cases, CASE | {"kind": "damaged"}),
    (cases, CASE | {"seal": "x"}),
    (cases, CASE | {"version": 0}),
    (cases, CASE | {"direction": "back"}),
]


@pytest.mark.parametrize(("table", "values"), REFUSED)
def test_a_row_against_a_promise_of_the_machine_is_refused(
    empty: sa.Connection, table: sa.Table, values: dict[str, Any]
) -> None:
    good = {"runs": HEAD, "actions": ACTION, "cases": CASE}[table.name]
    empty.execute(table.insert().values(good))
    empty.execute(table.delete())
    with refused(empty, CHECK):
        empty.execute(table.insert().values(values))


@files_only
@pytest.mark.parametrize("table", list(metadata.tables.values()), ids=str)
def test_no_column_takes_a_value_of_another_type(empty: sa.Connection, table: sa.Table) -> None:
    """Reliability, bad input 30: outside of STRICT tables SQLite stores 'abc' as an INTEGER."""
    columns = [column.name for column in table.c]
    for column in table.c:
        wrong: Any = b"blob" if isinstance(column.type, sa.Text) else "text"
        values = [wrong if name == column.name else 1 for name in columns]
        marks = ", ".join("?" * len(columns))
        with pytest.raises(sa.exc.IntegrityError, match=r"cannot store|datatype mismatch"):
            empty.exec_driver_sql(f"INSERT INTO {table.name} VALUES ({marks})", tuple(values))


def test_one_case_may_be_open_for_an_action_and_one_of_a_kind_for_a_run(
    empty: sa.Connection,
) -> None:
    """Law 10."""
    empty.execute(cases.insert().values(CASE))
    with refused(empty, UNIQUE):
        empty.execute(cases.insert().values(CASE | {"case_id": "c2", "kind": "late"}))
    damaged = CASE | {"key": None, "kind": "damaged", "key_id": "", "seal": "x"}
    empty.execute(cases.insert().values(damaged | {"case_id": "d"}))
    with refused(empty, UNIQUE):
        empty.execute(cases.insert().values(damaged | {"case_id": "d2"}))
    empty.execute(cases.insert().values(damaged | {"case_id": "d3", "run_id": "r2"}))
