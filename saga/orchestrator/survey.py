"""One look at the database: beat, bury the dead, claim, see what others did. In one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from saga.definition.spec import SagaSpec
from saga.errors import Tampered, UnknownRun
from saga.journal.database import Database
from saga.journal.history import History
from saga.journal.ownership import outlook
from saga.journal.quarantine import set_aside
from saga.journal.records import NewerFormat
from saga.journal.sharing import Circle
from saga.journal.takeup import Takeup, reread, take_up
from saga.orchestrator.held import Held
from saga.orchestrator.membership import Membership
from saga.orchestrator.rounds import Round
from saga.orchestrator.turns import Turns

__all__ = ["Survey", "look", "look_again", "outdated"]


@dataclass(slots=True)
class Survey:
    """What it brought. `alive`: nobody has declared us dead; without that it brought nothing."""

    alive: bool = True
    takeup: Takeup = field(default_factory=Takeup)
    moved: dict[str, int] = field(default_factory=dict)  # our runs that are due, with versions
    paused: frozenset[tuple[str, str]] = frozenset()  # (kind, name)
    next_due: float | None = None  # of a run that nobody has
    at: float = 0.0  # when we looked (unix seconds)
    seconds: float = 0.0  # how long it took, the waiting for a turn not counted


def look(
    connection: Any,
    database: Database,
    membership: Membership,
    specs: Mapping[str, SagaSpec],
    *,
    beat: bool,
    stuck: int,
    refused: str | None,
    room: int,
    circle: Circle,
    settling: bool,
    held: Collection[str],
    skip: Collection[str],
    watch: Round,
    turns: Turns,
) -> Survey:
    """Look, on the writer's thread, in its write transaction. `room`: how many runs we can take.

    `settling`: only such as wind down or have something unknown.
    """
    now, began = database.now(), database.clock.monotonic()
    survey = Survey(at=now)
    beaten = not beat or membership.beat(connection, stuck, refused)
    if not (beaten and membership.bury(connection)):
        survey.alive = False
        return survey
    survey.takeup = take_up(
        connection,
        database.keys,
        membership.id,
        specs,
        now=now,
        limit=room,
        held=held,
        circle=circle,
        skip=skip,
        turns=() if settling else turns.next(connection, skip, room),
        settling=settling,
        statements=database.statements,
    )
    watch.step(connection)
    unable = {*skip, *survey.takeup.unable}
    seen = outlook(connection, membership.id, specs, now=now, skip=unable)
    survey.moved, survey.paused, survey.next_due = seen.moved, seen.paused, seen.next_due
    survey.seconds = database.clock.monotonic() - began
    return survey


def outdated(runs: Mapping[str, Held], moved: Mapping[str, int]) -> list[Held]:
    """The runs that we hold as they were before somebody else appended to them."""
    return [
        run
        for run_id, version in moved.items()
        if (run := runs.get(run_id)) is not None and run.writing is None and version > run.version
    ]


def look_again(
    connection: Any,
    database: Database,
    own: str,
    specs: Mapping[str, SagaSpec],
    run: Held,
    skip: set[str],
) -> History | None:
    """A run that we hold, read again; `None` if it is no longer ours, or not ours to touch."""
    try:
        return reread(connection, database.keys, own, specs, run.run_id, run.fence)
    except (Tampered, UnknownRun) as damage:
        if not set_aside(connection, database.keys, run.run_id, str(damage), database.now()):
            skip.add(run.run_id)
    except NewerFormat:
        skip.add(run.run_id)
    return None
