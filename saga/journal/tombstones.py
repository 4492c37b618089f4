"""Tombstones: what stays of a run that was purged, and what is said of it.

The row of a run and all that belongs to it are gone; its id, how it ended and its idempotency keys
stay for good. So nobody starts it again by mistake, and no key is ever given to another action:
every key carries the id of its run, or a hash over it. A tombstone is sealed with the seal of the
one before it: none can be made up, and none taken out from between two others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from saga.definition.canonical import canonical
from saga.definition.spec import SagaSpec
from saga.errors import Conflict, SagaError, Tampered, UnknownRun
from saga.journal.backend import backend_of
from saga.journal.pages import PAGE, Read
from saga.journal.projection import Row
from saga.journal.sealing import Keyring
from saga.journal.statements import Question
from saga.journal.tables import definitions, instance, runs, tombstones
from saga.machine.commands import Start
from saga.machine.state import RunState

__all__ = [
    "TOMBSTONE",
    "Tombstone",
    "check_tombstones",
    "count_tombstones",
    "end_of_line",
    "missing_run",
    "purged_conflict",
    "tombstone_in",
    "tombstone_of",
    "tombstone_rows",
]

_NAMES = [column.name for column in tombstones.c]
_HERE = sa.select(instance.c.instance).scalar_subquery()
_before = tombstones.alias("before")
_PREVIOUS = (
    sa.select(_before.c.seal).where(_before.c.number == tombstones.c.number - 1).scalar_subquery()
)
TOMBSTONE = Question(
    sa.select(tombstones, _PREVIOUS, _HERE).where(tombstones.c.run_id == sa.bindparam("run_id"))
)
"""Asked with the `run_id`."""
_PINNED = sa.exists().where(definitions.c.digest == tombstones.c.definition)
_STANDS = sa.exists().where(runs.c.run_id == tombstones.c.run_id)
_LAST = Question(
    sa.select(tombstones.c.number, tombstones.c.seal).order_by(tombstones.c.number.desc()).limit(1)
)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of a run. `keys`: the idempotency keys of its actions."""

    run_id: str
    tenant: str
    saga: str
    version: int
    definition: str
    input_digest: str
    outcome: str
    ended_at: float
    purged_at: float
    keys: tuple[str, ...]
    key_id: str
    seal: str

    def __str__(self) -> str:
        return f"ended ({self.outcome} at {_clock(self.ended_at)}), purged at " + _clock(
            self.purged_at
        )


def tombstone_rows(
    keys: Keyring,
    here: str,
    states: Sequence[RunState],
    last: tuple[int, str],
    now: float,
) -> list[Row]:
    """The rows for these ended runs. `last` is number and seal of the newest one that there is."""
    rows, (number, seal) = list[Row](), last
    for state in states:
        number += 1
        values = (
            number,
            state.run_id,
            state.tenant,
            state.saga,
            state.saga_version,
            state.definition,
            # Sealed, not only hashed: who has a key alone can tell whether a guess is right.
            keys.seal("input", state.run_id, canonical(state.input)),
            state.outcome,
            float(state.ended_at or 0.0),
            float(now),
            json.dumps(list(state.actions)),
        )
        seal = keys.seal("tombstone", seal, here, json.dumps(values))
        rows.append((*values, keys.key_id, seal))
    return rows


def end_of_line(connection: sa.Connection) -> tuple[int, str]:
    """Number and seal of the newest tombstone; only who is alone may add to it."""
    found = _LAST.ask(connection)
    return (found[0][0], found[0][1]) if found else (0, "")


def tombstone_of(connection: sa.Connection, keys: Keyring, run_id: str) -> Tombstone | None:
    """What stays of a run, verified; `None` if nothing of that name was purged. `Tampered`."""
    if not backend_of(connection).is_text(run_id):
        return None
    return tombstone_in(keys, run_id, TOMBSTONE.ask(connection, run_id=run_id))


def tombstone_in(keys: Keyring, run_id: str, rows: Sequence[Row]) -> Tombstone | None:
    """The same, in the answer to `TOMBSTONE`."""
    if not rows:
        return None
    *row, previous, here = rows[0]
    if not _verifies(keys, row, "" if row[0] == 1 else previous, here):
        raise Tampered(
            f"run {run_id}: it was purged, and its tombstone does not verify",
            remedy="see: saga verify; restore its row from a backup",
        )
    values = dict(zip(_NAMES, row, strict=True))
    return Tombstone(
        run_id=run_id,
        tenant=values["tenant"],
        saga=values["saga"],
        version=values["saga_version"],
        definition=values["definition"],
        input_digest=values["input_digest"],
        outcome=values["outcome"],
        ended_at=values["ended_at"],
        purged_at=values["purged_at"],
        keys=tuple(json.loads(values["action_keys"])),
        key_id=values["key_id"],
        seal=values["seal"],
    )


def missing_run(connection: sa.Connection, keys: Keyring, run_id: str) -> SagaError:
    """The answer for a run that is not there: never, or not any more. Raises `Tampered`."""
    found = tombstone_of(connection, keys, run_id)
    if found is None:
        return UnknownRun(f"no run {run_id!r} in this database", remedy="see: saga runs")
    return UnknownRun(
        f"run {run_id!r} {found}: only its tombstone is left",
        remedy="what happened in it is in the backups from before",
    )


def purged_conflict(keys: Keyring, found: Tombstone, spec: SagaSpec, start: Start) -> Conflict:
    """The answer to a start under the id of a purged run: no run is there to be given back.

    It says whether the caller asked for the same thing, so that a message that is delivered again
    after a month can be told from an id that was chosen twice.
    """
    for what, old, new in (
        ("saga", (found.saga, found.version), (spec.name, spec.version)),
        ("definition", found.definition, spec.digest),
        ("tenant", found.tenant, start.tenant),
    ):
        if old != new:
            return _conflict(found, f"of another {what}")
    given = canonical(start.input)
    same = keys.verify(found.key_id, found.input_digest, "input", found.run_id, given)
    return _conflict(found, "of the same input" if same else "of another input")


def _conflict(found: Tombstone, like: str) -> Conflict:
    return Conflict(f"run {found.run_id!r}, {like}, {found}", remedy="use another run id")


def count_tombstones(connection: sa.Connection) -> int:
    """How many runs have been purged."""
    return int(connection.execute(sa.select(sa.func.count()).select_from(tombstones)).scalar_one())


def check_tombstones(keys: Keyring, read: Read) -> Iterator[tuple[str | None, str]]:
    """What is wrong with the tombstones: run id and text. Read in pages."""
    last: tuple[object, object] = (0, "")
    select = sa.select(tombstones, _PINNED, _STANDS, _HERE).order_by(tombstones.c.number)
    after: Any = None
    while True:
        page = select if after is None else select.where(tombstones.c.number > after)
        rows = read(partial(_rows, select=page.limit(PAGE)))
        for *row, pinned, stands, here in rows:
            name = row[1] if isinstance(row[1], str) else None
            what = f"tombstone {row[0]!a} of run {row[1]!a}"
            yield from ((name, f"{what}: {text}") for text in _wrong(keys, row, last, here))
            if not pinned:
                yield name, f"{what}: its definition is missing"
            if stands:
                yield name, f"{what}: the run is there too"
            last = row[0], row[-1]
        after = rows[-1][0] if rows else None
        if len(rows) < PAGE or after is None:
            return


def _rows(connection: sa.Connection, select: sa.Select[Any]) -> Sequence[Any]:
    return connection.execute(select).all()


def _wrong(
    keys: Keyring, row: Sequence[Any], last: tuple[object, object], here: object
) -> Iterator[str]:
    number, seal = last
    if type(row[0]) is not int or type(number) is not int or row[0] != number + 1:
        yield "the one before it is missing"
    elif not _verifies(keys, row, seal, here):
        yield "it, or the one before it, was altered, or is of another database"


def _verifies(keys: Keyring, row: Sequence[Any], previous: object, here: object) -> bool:
    *values, key_id, seal = row
    try:
        text = json.dumps(values)
    except TypeError:  # a value that no column of ours holds
        return False
    return keys.verify(key_id, seal, "tombstone", previous, here, text)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
