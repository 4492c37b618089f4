"""Starting a run: its head, its first record and its definition, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from saga.definition.canonical import canonical
from saga.definition.exclusive import resource_of
from saga.definition.spec import SagaSpec
from saga.errors import BadInput, Conflict, Tampered, UnknownRun
from saga.journal.append import build_append, write_rows
from saga.journal.backend import backend_of, driver
from saga.journal.database import Database, Violation
from saga.journal.definitions import Specs, alike, store_definition
from saga.journal.history import History, is_recorded, load
from saga.journal.projection import Row, head_row, seal_head
from saga.journal.records import NewerFormat, Unwritable
from saga.journal.statements import Question, ask_all
from saga.journal.tables import runs
from saga.journal.tombstones import TOMBSTONE, purged_conflict, tombstone_in
from saga.journal.turns import is_free
from saga.machine.commands import Rejected, Start
from saga.machine.decide import transition
from saga.machine.plan import plan
from saga.machine.state import RunState, new_state

__all__ = ["start_run"]

_KNOWN = Question(sa.select(runs.c.run_id).where(runs.c.run_id == sa.bindparam("run_id")))


def start_run(
    database: Database,
    spec: SagaSpec,
    text: str,
    start: Start,
) -> tuple[History, bool]:
    """Start a run of `spec`, or find it as it is; and whether it was there already.

    `text` is the definition as it is stored. The same run id with the same saga, version and input
    gives the run that is there; anything else is `Conflict`, the id of a run that was purged too.
    `start.at` and `start.instance` are filled in here.
    """

    if spec.exclusive is not None:
        start = replace(start, resource=resource_of(spec.exclusive, start.input))

    def work(connection: sa.Connection) -> tuple[History, bool]:
        known, stored = ask_all(connection, (_KNOWN, {"run_id": start.run_id}), alike(spec))
        if known:
            return _found(connection, database, spec, start), True
        return _started(connection, database, spec, text, start, stored), False

    def happened(connection: sa.Connection, started: tuple[History, bool]) -> bool:
        history, known = started
        return known or is_recorded(connection, start.run_id, 1, history.seal)

    try:
        return database.write(work, happened)
    except Violation as error:
        raise Tampered(
            f"run {start.run_id}: its head is missing, and rows of it are still there",
            remedy="use another run id; see: saga verify",
        ) from error
    except Unwritable as error:
        raise BadInput(f"run {start.run_id!r} cannot be recorded: {error}") from error
    except NewerFormat as newer:
        raise Conflict(
            f"run {start.run_id!r} is there, written by a newer version of saga ({newer})",
            remedy="use another run id, or that version",
        ) from newer


def _found(connection: sa.Connection, database: Database, spec: SagaSpec, start: Start) -> History:
    backend_of(connection).lock(connection, [start.run_id])  # it may be about to be purged
    try:
        history = load(connection, database.keys, Specs(database.keys), start.run_id)
    except UnknownRun:
        rows = TOMBSTONE.ask(connection, run_id=start.run_id)
        _ensure_unused(database, spec, start, rows)
        raise
    _ensure_same(history.state, spec, start)
    return history


def _started(
    connection: sa.Connection,
    database: Database,
    spec: SagaSpec,
    text: str,
    start: Start,
    stored: list[Row],
) -> History:
    now = database.now()
    if not store_definition(connection, database.keys, spec, text, now, stored):
        raise Tampered(
            f"definition {spec.digest} is stored here and does not verify",
            remedy="see: saga verify; restore its row from a backup",
        )
    command = replace(start, at=now, instance=database.instance)
    if start.resource is not None:
        command = replace(command, free=is_free(connection, start.tenant, start.resource))
    return _insert(connection, database, spec, new_state(spec), command)


def _insert(
    connection: sa.Connection,
    database: Database,
    spec: SagaSpec,
    state: RunState,
    command: Start,
) -> History:
    events = transition(spec, state, command)
    assert not isinstance(events, Rejected), events
    append = build_append(
        database.keys,
        state,
        events,
        ["start"],
        seq=1,
        previous="",
        at=command.at,
        # One that waits for its turn is taken up when that comes, or when it is out of time.
        due=plan(spec, state, command.at).due if state.lacks_turn else command.at,
    )
    values = {
        **head_row(state, 1, append.due),
        "fence": 1,
        "owner": None,
        "quarantined_at": None,
        "key_id": database.keys.key_id,
        "seal": seal_head(database.keys, state, 1, append.due, append.seal),
    }
    cursor = driver(connection).cursor()
    with backend_of(connection).together(connection):
        database.statements.new_run.run(cursor, [tuple(values[column.name] for column in runs.c)])
        write_rows(cursor, database.statements, [append])
        # Last: with its row in place nobody can start, end and purge a run of this id meanwhile.
        purged = TOMBSTONE.send(connection, {"run_id": command.run_id})
    _ensure_unused(database, spec, command, purged.fetchall())
    return History(
        spec=spec,
        state=state,
        records=(),
        version=1,
        at=command.at,
        seal=append.seal,
        due=append.due,
        owner=None,
        fence=1,
        quarantined_at=None,
    )


def _ensure_unused(database: Database, spec: SagaSpec, start: Start, rows: Sequence[Row]) -> None:
    found = tombstone_in(database.keys, start.run_id, rows)
    if found is not None:
        raise purged_conflict(database.keys, found, spec, start)


def _ensure_same(state: RunState, spec: SagaSpec, start: Start) -> None:
    ended = f", {state.outcome}" if state.outcome else ""
    for what, old, new in (
        ("saga", state.saga, spec.name),
        ("version", str(state.saga_version), str(spec.version)),
        ("definition", state.definition, spec.digest),
        ("tenant", state.tenant, start.tenant),
    ):
        if old != new:
            raise Conflict(
                f"run {start.run_id!r} was started with another {what} ({old}, not {new})",
                remedy="use another run id",
            )
    if canonical(state.input) != canonical(start.input):
        raise Conflict(
            f"run {start.run_id!r} was started with another input{ended}",
            remedy="use another run id",
        )
