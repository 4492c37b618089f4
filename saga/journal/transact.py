"""Anyone may append: lock the head, read, decide, write, in one short transaction.

For clients, and for an owner that lost its run and still has evidence. Such commands freeze no
intent and begin no sending; their record makes the run due now, so that its owner notices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from saga.errors import BadInput, NotAllowed
from saga.journal.append import Append, build_append, write_appends
from saga.journal.backend import backend_of, driver
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import History, is_recorded, load
from saga.journal.records import NewerFormat, Unwritable
from saga.machine.commands import Command, Rejected, name_of
from saga.machine.decide import transition
from saga.machine.events import Event

__all__ = ["Answered", "ask"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a run answered: the events that are now durable, or why it was turned down."""

    history: History  # with the state after the command
    events: tuple[Event, ...]
    rejected: Rejected | None


def ask(
    database: Database, specs: Specs, run_id: str, letter: Callable[[float], Command]
) -> Answered:
    """Give a run one command.

    Raises `UnknownRun`, `Tampered`, `DatabaseError`, `BadInput` for what no record can hold, and
    `NotAllowed` for a run that a newer version has written.
    """

    def work(connection: sa.Connection) -> tuple[Answered, Append | None]:
        backend_of(connection).lock(connection, [run_id])
        history = load(connection, database.keys, specs, run_id)
        at = max(database.now(), history.at)
        command = letter(at)
        decision = transition(history.spec, history.state, command)
        if isinstance(decision, Rejected):
            return Answered(history, (), decision), None
        append = build_append(
            database.keys,
            history.state,
            decision,
            [name_of(command)],
            seq=history.version + 1,
            previous=history.seal,
            at=at,
            # An ended run that is not watched has nothing left to do, whatever is reported of it.
            due=None if history.state.rests else at,
        )
        write_appends(driver(connection).cursor(), database.statements, [append])
        history.version, history.at, history.seal = append.seq, at, append.seal
        history.due = append.due
        return Answered(history, decision, None), append

    def happened(connection: sa.Connection, done: tuple[Answered, Append | None]) -> bool:
        append = done[1]
        return append is None or is_recorded(connection, run_id, append.seq, append.seal)

    try:
        answered, _ = database.write(work, happened)
    except Unwritable as error:
        raise BadInput(f"run {run_id!r}: {error}") from error
    except NewerFormat as newer:
        raise NotAllowed(
            "newer_version",
            f"run {run_id!r} was written by a newer version of saga ({newer})",
            remedy="use that version for it",
        ) from newer
    return answered
