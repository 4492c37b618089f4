"""Taking up runs: claimed, read and verified in one transaction.

A claim gives no right to act. What does not verify is set aside; what verifies and was written by a
newer version is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from saga.definition.spec import SagaSpec
from saga.errors import Tampered, UnknownRun
from saga.journal.append import Hold, build_append, write_appends
from saga.journal.backend import backend_of, driver
from saga.journal.definitions import Specs
from saga.journal.history import History, StoredRun, load_history, read_stored
from saga.journal.ownership import claim
from saga.journal.quarantine import set_aside
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.sharing import Circle
from saga.journal.statements import Statements
from saga.journal.tables import runs
from saga.machine.commands import Rejected, TakeTurn, name_of
from saga.machine.decide import transition

__all__ = ["Taken", "Takeup", "reread", "take_up"]


@dataclass(frozen=True, slots=True)
class Taken:
    """A run that is ours, verified."""

    history: History
    fence: int
    taken_over: bool  # somebody had it: what was in flight is unknown


@dataclass(slots=True)
class Takeup:
    """What one claim brought."""

    taken: list[Taken] = field(default_factory=list)
    unable: list[str] = field(default_factory=list)  # of a newer version, takes no mark or owner
    damaged: list[str] = field(default_factory=list)


def take_up(
    connection: sa.Connection,
    keys: Keyring,
    own: str,
    specs: Mapping[str, SagaSpec],
    *,
    now: float,
    limit: int,
    held: Collection[str],
    skip: Collection[str],
    circle: Circle,
    turns: Collection[str],
    settling: bool,
    statements: Statements,
) -> Takeup:
    """Claim up to `limit` runs for the orchestrator `own`, in the caller's write transaction.

    Those whose turn it is (`turns`) take it with the claim.
    """
    claimed = claim(
        connection,
        own,
        list(specs),
        now=now,
        limit=limit,
        held=held,
        circle=circle,
        skip=skip,
        turns=turns,
        settling=settling,
    )
    takeup = Takeup()
    if not claimed:
        return takeup
    cache = Specs(keys, specs)
    stored = read_stored(connection, [run.run_id for run in claimed])
    for run in claimed:
        found = stored[run.run_id]
        history = _verified(connection, keys, cache, run.run_id, found, now, takeup)
        if not run.fence:
            takeup.unable.append(run.run_id)
        elif history is not None:
            if run.run_id in turns:
                _take_turn(connection, keys, statements, own, history, run.fence, now)
            takeup.taken.append(Taken(history, run.fence, run.taken_over))
    return takeup


def _verified(
    connection: sa.Connection,
    keys: Keyring,
    specs: Specs,
    run_id: str,
    stored: StoredRun,
    now: float,
    takeup: Takeup,
) -> History | None:
    """The history of a run that was claimed; `None` if it is not ours to move, which is noted."""
    try:
        return load_history(connection, keys, specs, run_id, stored)
    except NewerFormat:
        takeup.unable.append(run_id)
        connection.execute(runs.update().where(runs.c.run_id == run_id).values(owner=None))
    except (Tampered, UnknownRun) as damage:
        takeup.damaged.append(run_id)
        if not set_aside(connection, keys, run_id, str(damage), now):
            takeup.unable.append(run_id)
    return None


def _take_turn(
    connection: sa.Connection,
    keys: Keyring,
    statements: Statements,
    own: str,
    history: History,
    fence: int,
    now: float,
) -> None:
    """Record that the run has the turn from now on."""
    command = TakeTurn(at=max(now, history.at))
    events = transition(history.spec, history.state, command)
    assert not isinstance(events, Rejected), events
    append = build_append(
        keys,
        history.state,
        events,
        [name_of(command)],
        seq=history.version + 1,
        previous=history.seal,
        at=command.at,
        due=command.at,
        hold=Hold(own, fence, release=False),
    )
    write_appends(driver(connection).cursor(), statements, [append])
    history.version, history.at, history.seal = append.seq, command.at, append.seal
    history.due = append.due


def reread(
    connection: sa.Connection,
    keys: Keyring,
    own: str,
    specs: Mapping[str, SagaSpec],
    run_id: str,
    fence: int,
) -> History | None:
    """A run that we hold, read again; `None` if it is no longer ours. Raises `Tampered`."""
    backend_of(connection).lock(connection, [run_id])
    stored = read_stored(connection, [run_id])[run_id]
    if stored.head is None or (stored.head["owner"], stored.head["fence"]) != (own, fence):
        return None
    return load_history(connection, keys, Specs(keys, specs), run_id, stored)
