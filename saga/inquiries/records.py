"""The journal of a run as it is read by people: every record with its events, damaged or not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from saga.definition.canonical import DEPTH_MAX
from saga.definition.strict_json import strict_loads
from saga.journal import inquiry
from saga.journal.records import NewerFormat, read_record, verify_record
from saga.journal.sealing import Keyring
from saga.journal.tombstones import missing_run
from saga.views import moment

__all__ = ["RecordView", "record_views"]


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record. `events` are its facts as dicts with a `kind`; `fence` 0: written by a client.

    `command` names what led to it, several joined by `+`; `due_at` is when the run was due after
    it. `damage` says what is wrong with the record and is empty for one that verifies; of a damaged
    one there is what can still be read.
    """

    seq: int
    at: datetime | None
    command: str
    fence: int | None
    due_at: datetime | None
    events: tuple[dict[str, Any], ...]
    damage: str = ""


def record_views(connection: Any, keys: Keyring, run_id: str) -> list[RecordView]:
    """All records of a run in their order. Raises `UnknownRun`."""
    rows = inquiry.journal_rows(connection, run_id)
    if not rows and inquiry.head_of(connection, run_id) is None:
        raise missing_run(connection, keys, run_id)
    views: list[RecordView] = []
    seal = ""
    for number, row in enumerate(rows, start=1):
        views.append(_view(keys, row, number, seal))
        seal = row.seal
    return views


def _view(keys: Keyring, row: Any, number: int, previous: str) -> RecordView:
    damage = _damage(keys, row, number, previous)
    try:
        body = strict_loads(row.body, depth_max=2 * DEPTH_MAX)  # what it holds may be as deep
        events = tuple(body["events"])
        fence, due_at = body["fence"], moment(body["due"])
    except (ValueError, TypeError, KeyError):
        fence, due_at, events = None, None, ()
    return RecordView(row.seq, moment(row.at), row.command, fence, due_at, events, damage)


def _damage(keys: Keyring, row: Any, number: int, previous: str) -> str:
    if row.seq != number:
        return "a record before it is missing"
    if not verify_record(keys, row.key_id, row.seal, previous, row.run_id, row.seq, row.body):
        return "its seal does not verify"
    try:
        record = read_record(row.body)
    except NewerFormat as newer:
        return f"written by a newer version ({newer})"
    except ValueError as error:
        return str(error)
    if (record.at, "+".join(record.commands)) != (row.at, row.command):
        return "a column is not what its body says"
    return ""
