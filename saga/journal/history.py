"""A run as it is stored, and whether that is what its journal says: the one verify function.

It serves recovery, every read by a client, `saga verify` and the tests: strict JSON, formats,
seals, fields, a gap-free sequence, fences that never fall, every column equal to what a replay
gives, and the mark of a run that is set aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from saga.definition.spec import SagaSpec
from saga.errors import Tampered
from saga.journal.backend import backend_of
from saga.journal.definitions import PINNED, Specs
from saga.journal.identity import ensure_all_keys
from saga.journal.projection import Row, action_row, case_row, head_row, turn_row, verify_head
from saga.journal.quarantine import is_aside, is_damaged_case, is_set_aside
from saga.journal.records import NewerFormat, Record, read_record, verify_record
from saga.journal.sealing import Keyring
from saga.journal.statements import Question, ask_all, listed
from saga.journal.tables import actions, cases, instance, journal, runs, turns
from saga.journal.tombstones import missing_run
from saga.machine.evolve import evolve
from saga.machine.state import RunState, new_state

__all__ = ["History", "StoredRun", "is_recorded", "load", "load_history", "read_stored", "verified"]


_FENCE_LIMIT = 2**53  # one more must still be an integer of the database

_HEAD_NAMES = [*runs.c.keys(), "instance"]
_HEAD_SIZE = len(_HEAD_NAMES)
_HERE = sa.select(instance.c.instance).scalar_subquery()
_HEADS = Question(
    sa.select(runs, _HERE, turns)
    .select_from(runs.outerjoin(turns, turns.c.run_id == runs.c.run_id))
    .where(runs.c.run_id.in_(listed("names")))
)
_RECORDS = Question(
    sa.select(journal)
    .where(journal.c.run_id.in_(listed("names")))
    .order_by(journal.c.run_id, journal.c.seq)
)
_ACTIONS = Question(sa.select(actions).where(actions.c.run_id.in_(listed("names"))))
_SEAL = Question(
    sa.select(journal.c.seal).where(
        journal.c.run_id == sa.bindparam("run_id"), journal.c.seq == sa.bindparam("seq")
    )
)
_CASES = Question(sa.select(cases).where(cases.c.run_id.in_(listed("names"))))


@dataclass(slots=True)
class StoredRun:
    """The rows of one run, as they are."""

    head: Any  # a mapping of its columns and the `instance` of this database, or None
    records: list[Row]
    actions: list[Row]
    cases: list[Row]
    turn: Row | None = None
    definition: Row | None = None


@dataclass(slots=True)
class History:
    """A run that verified: its state, its records, and what the next record needs."""

    spec: SagaSpec
    state: RunState
    records: tuple[Record, ...]
    version: int
    at: float  # time of the last record
    seal: str  # of the last record
    due: float | None
    owner: str | None
    fence: int
    quarantined_at: float | None


def read_stored(connection: sa.Connection, run_ids: Sequence[str]) -> dict[str, StoredRun]:
    """The rows of several runs, in five statements."""
    found = {run_id: StoredRun(None, [], [], []) for run_id in run_ids}
    is_text = backend_of(connection).is_text
    names = [run_id for run_id in run_ids if is_text(run_id)]  # no others are there
    given = {"names": names}
    asked = (_HEADS, _RECORDS, _ACTIONS, _CASES, PINNED)
    answers = ask_all(connection, *((question, given) for question in asked))
    heads, records, acted, opened, pinned = answers
    definitions = {row[0]: row for row in pinned}
    for row in heads:
        one = found[row[0]]
        one.head = dict(zip(_HEAD_NAMES, row, strict=False))
        one.definition = definitions.get(one.head["definition"])
        one.turn = row[_HEAD_SIZE:] if row[_HEAD_SIZE] is not None else None
    for row in records:
        found[row[0]].records.append(row)
    for row in acted:
        found[row[1]].actions.append(row)
    for row in opened:
        found[row[1]].cases.append(row)
    return found


def is_recorded(connection: sa.Connection, run_id: str, seq: int, seal: str) -> bool:
    """Whether this very record is durable: what to ask when a COMMIT has failed.

    It may be under way still; whoever makes it so has the lock of the head.
    """
    backend_of(connection).lock(connection, [run_id])
    return _SEAL.ask(connection, run_id=run_id, seq=seq) == [(seal,)]


def load(connection: sa.Connection, keys: Keyring, specs: Specs, run_id: str) -> History:
    """A run, verified. `UnknownRun` if it is not there, `Tampered` if it is not what it was."""
    stored = read_stored(connection, [run_id])[run_id]
    return load_history(connection, keys, specs, run_id, stored)


def load_history(
    connection: sa.Connection, keys: Keyring, specs: Specs, run_id: str, stored: StoredRun
) -> History:
    """As `load`, for rows that have been read already."""
    if stored.head is None:
        if stored.records or stored.actions or stored.cases:
            raise Tampered(f"run {run_id}: its head is missing")
        raise missing_run(connection, keys, run_id)
    try:
        spec = _definition(connection, specs, run_id, stored)
        return verified(keys, spec, run_id, stored)
    except Tampered:
        ensure_all_keys(connection, keys)
        raise


def _definition(
    connection: sa.Connection, specs: Specs, run_id: str, stored: StoredRun
) -> SagaSpec:
    try:
        return specs.get(connection, stored.head["definition"], stored.definition)
    except Tampered as damage:
        raise Tampered(f"run {run_id}: its {damage.message}") from damage


def verified(keys: Keyring, spec: SagaSpec, run_id: str, stored: StoredRun) -> History:
    """Replay the journal and compare every column; `Tampered` names the first difference.

    `NewerFormat` if a record verifies but was written by a newer version.
    """
    head = stored.head
    assert head is not None, run_id
    state, records, seal = _replayed(keys, spec, run_id, stored.records)
    if not records:
        raise Tampered(f"run {run_id}: its journal is missing")
    last = records[-1]
    _check_head(keys, run_id, head, state, last, seal)
    wanted = [action_row(state, action) for action in state.actions.values()]
    _same(run_id, "actions", stored.actions, wanted)
    own = [row for row in stored.cases if not is_damaged_case(row)]
    _same(run_id, "cases", own, [case_row(state, case) for case in state.cases.values()])
    _check_turn(run_id, stored, turn_row(state))
    is_aside(keys, run_id, stored.cases, head["quarantined_at"])
    return History(
        spec=spec,
        state=state,
        records=tuple(records),
        version=last.seq,
        at=last.at,
        seal=seal,
        due=last.due,
        owner=head["owner"],
        fence=head["fence"],
        quarantined_at=head["quarantined_at"],
    )


def _check_head(
    keys: Keyring, run_id: str, head: Any, state: RunState, last: Record, seal: str
) -> None:
    for name, value in head_row(state, last.seq, last.due).items():
        if _differ(head[name], value):
            raise Tampered(f"run {run_id}: runs.{name} is not what its journal says")
    if not verify_head(keys, head["key_id"], head["seal"], state, last.seq, last.due, seal):
        raise Tampered(f"run {run_id}: the seal of its head does not verify")
    if state.instance != head["instance"]:
        raise Tampered(f"run {run_id}: it is a run of another database ({state.instance})")
    # Owner and fence change with every claim and no record says so; but a fence never falls.
    if type(head["fence"]) is not int or not last.fence <= head["fence"] < _FENCE_LIMIT:
        raise Tampered(f"run {run_id}: its fence is lower than that of its last record, or absurd")


def _check_turn(run_id: str, stored: StoredRun, wanted: Row | None) -> None:
    """One that a person has set aside for good has given its turn to others."""
    if stored.turn is None and any(map(is_set_aside, stored.cases)):
        return
    found, expected = stored.turn or (None,), wanted or (None,)
    if len(found) != len(expected) or any(map(_differ, found, expected)):
        raise Tampered(f"run {run_id}: its row of turns is not what its journal says")


def _replayed(
    keys: Keyring, spec: SagaSpec, run_id: str, rows: Sequence[Row]
) -> tuple[RunState, list[Record], str]:
    state, records, seal, fence = new_state(spec), list[Record](), "", 1
    for number, (_, seq, command, at, body, key_id, stored_seal) in enumerate(rows, start=1):
        where = f"run {run_id}, record {number}"
        if _differ(seq, number):
            raise Tampered(f"{where}: missing")
        if not verify_record(keys, key_id, stored_seal, seal, run_id, seq, body):
            raise Tampered(f"{where}: {_why_unsealed(keys, key_id)}")
        record = _read(where, body)
        if _differ(command, "+".join(record.commands)) or _differ(at, float(record.at)):
            raise Tampered(f"{where}: a column is not what its body says")
        if (record.run_id, record.seq) != (run_id, seq):
            raise Tampered(f"{where}: its body is that of another record")
        if record.fence and record.fence < fence:
            raise Tampered(f"{where}: its fence is lower than one before it")
        fence = max(fence, record.fence)
        try:
            for event in record.events:
                evolve(state, event, record.at)
        except Exception as error:  # the fold trusts its events; these never came from `decide`
            raise Tampered(f"{where}: it does not follow from the records before it") from error
        records.append(record)
        seal = stored_seal
    return state, records, seal


def _read(where: str, body: str) -> Record:
    try:
        return read_record(body)
    except NewerFormat as newer:
        raise NewerFormat(f"{where}: {newer}") from newer
    except ValueError as error:
        raise Tampered(f"{where}: {error}") from error


def _why_unsealed(keys: Keyring, key_id: object) -> str:
    if key_id in keys:
        return "its seal does not verify"
    return f"it is sealed with key {key_id!a}, and SAGA_KEYS has none of that name"


def _same(run_id: str, table: str, stored: list[Row], expected: list[Row]) -> None:
    found = {row[0]: row for row in stored}
    wanted = {row[0]: row for row in expected}
    if found.keys() != wanted.keys():
        raise Tampered(f"run {run_id}: {table} has rows missing or added")
    for key, row in wanted.items():
        if any(map(_differ, found[key], row)):
            raise Tampered(f"run {run_id}: the row {key} of {table} is not what its journal says")


def _differ(stored: object, expected: object) -> bool:
    """With their types: 1 and 1.0 and true are not the same in a column."""
    return type(stored) is not type(expected) or stored != expected
