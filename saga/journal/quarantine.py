"""Setting a damaged run aside: the one write that has no record, since its journal is not whole.

Nothing is repaired. The run gets a mark and a case, no orchestrator touches it, all others go on.
The case follows from no record, so it has a seal of its own; and a run bears its mark exactly
while such a case is open, or was closed by `accept`. Whoever takes away one of them is found out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from saga.errors import Tampered
from saga.journal.backend import backend_of
from saga.journal.projection import Row
from saga.journal.sealing import Keyring
from saga.journal.tables import cases, runs

__all__ = ["DAMAGED", "is_aside", "is_damaged_case", "is_set_aside", "seal_case", "set_aside"]

DAMAGED = "damaged"  # the kind of its case
_WHY_LONGEST = 2000
_NAMES = [column.name for column in cases.columns]
_KIND, _SEALED = _NAMES.index("kind"), _NAMES.index("key_id")
_log = logging.getLogger("saga")


def set_aside(connection: sa.Connection, keys: Keyring, run_id: str, why: str, now: float) -> bool:
    """Mark the run, free it, open its case unless one is open; log it.

    False if its row takes no mark: the next look would find it again.
    """
    known = connection.execute(
        sa.select(cases.c.state, cases.c.opened_at).where(
            cases.c.run_id == run_id, cases.c.kind == DAMAGED
        )
    ).all()
    since = next((case.opened_at for case in known if case.state == "open"), None)
    marked = _mark(connection, run_id, now if since is None else since)
    if since is not None:
        return marked
    case_id = _free_id(connection, run_id, len(known) + 1)
    why = why[:_WHY_LONGEST]
    values = {
        "case_id": case_id,
        "run_id": run_id,
        "kind": DAMAGED,
        "state": "open",
        "version": 1,
        "opened_at": float(now),
        "reason": why,
    }
    row = seal_case(keys, [values.get(name) for name in _NAMES])
    connection.execute(cases.insert().values(row))
    _log.error("case %s opened (damaged): %s", case_id, why)
    return marked


def is_damaged_case(row: Row) -> bool:
    """Whether a row of `cases` is one of these."""
    return bool(row[_KIND] == DAMAGED)


def is_set_aside(row: Row) -> bool:
    """Whether it is one that a person has closed for good: the run stays aside."""
    verdict = row[_NAMES.index("verdict")]
    return is_damaged_case(row) and row[_NAMES.index("state")] == "closed" and verdict == "accept"


def is_aside(keys: Keyring, run_id: str, rows: Iterable[Row], mark: object) -> bool:
    """Whether the run is set aside: marked, and with a case of that. Raises `Tampered`.

    A run that has only one of the two is neither set aside nor whole.
    """
    since = _aside_since(keys, run_id, filter(is_damaged_case, rows))
    if since != mark:
        raise Tampered(f"run {run_id}: it is marked as set aside and has no case of that, or not")
    return since is not None


def seal_case(keys: Keyring, row: Sequence[Any]) -> Row:
    """The row of such a case, sealed: its columns, of which the last two are filled in."""
    values = tuple(row[:_SEALED])
    return (*values, keys.key_id, keys.seal("case", json.dumps(values)))


def _aside_since(keys: Keyring, run_id: str, rows: Iterable[Row]) -> float | None:
    """Since when the run is set aside, as the rows of these cases say. Raises `Tampered`."""
    since: float | None = None
    for row in rows:
        case = dict(zip(_NAMES, row, strict=True))
        if not keys.verify(case["key_id"], case["seal"], "case", _sealed_text(row)):
            raise Tampered(f"run {run_id}: the case of its damage was altered or is made up")
        if case["state"] == "open" or case["verdict"] == "accept":
            since = case["opened_at"]
    return since


def _sealed_text(row: Row) -> str:
    try:
        return json.dumps(row[:_SEALED])
    except TypeError:  # a value that no column of ours holds
        return ""


def _mark(connection: sa.Connection, run_id: str, since: float) -> bool:
    mark = runs.update().values(quarantined_at=since, owner=None)
    try:
        with backend_of(connection).attempt(connection):
            connection.execute(mark.where(runs.c.run_id == run_id))
    except sa.exc.IntegrityError as error:
        # Not even the mark fits into what is left of this row, or its definition is gone.
        _log.error("run %s cannot be marked as set aside: %s", run_id, error.orig)
        return False
    return True


def _free_id(connection: sa.Connection, run_id: str, number: int) -> str:
    """A new id each time; one that somebody has made up must not stand in the way."""
    while True:
        case_id = f"{run_id}/{DAMAGED}" + (f"~{number}" if number > 1 else "")
        taken = sa.select(cases.c.case_id).where(cases.c.case_id == case_id)
        if connection.execute(taken).first() is None:
            return case_id
        number += 1
