"""The seam between the journal and a kind of database: all that differs goes through here.

There is one module for each kind. It knows how the database is found and opened, how a transaction
begins and ends, what is locked in it, how many rows become one statement, what its errors mean and
how its schema is looked at. Whoever has a connection can ask it for its backend, so nobody else in
the journal knows which kind there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

import sqlalchemy as sa

from saga.clock import Clock
from saga.journal.projection import Row

__all__ = [
    "RACE_LOST",
    "Asked",
    "Backend",
    "Hints",
    "Life",
    "Statement",
    "Turn",
    "backend_of",
    "driver",
]

RACE_LOST = "a run has moved on meanwhile"

Asked: TypeAlias = Callable[[Any, dict[str, Any]], Any]
"""A compiled question: a cursor with the rows, for a connection of the driver and the values."""


class Statement(Protocol):
    """One statement that takes rows: an insert, or an update or delete joined to them."""

    def run(self, cursor: Any, rows: Sequence[Row]) -> None:
        """Execute for every row."""
        ...

    def ensure(self, cursor: Any, rows: Sequence[Row]) -> None:
        """The same; `Conflict` unless each changes a row, of a batch not before its commit."""
        ...


class Turn(Protocol):
    """The turn to write, where writers must take turns."""

    def held(self) -> AbstractContextManager[None]:
        """Wait for the turn and have it; `DatabaseError` if it does not come."""
        ...


class Hints(Protocol):
    """Signs that somebody has written. Correctness rests on the poll."""

    @property
    def descriptor(self) -> int | None:
        """A file descriptor that is readable as soon as there is a sign, until `changing` is asked.

        `None`: nobody tells. Another one may take its place at any time.
        """
        ...

    @property
    def patience(self) -> float:
        """Seconds after which to look all the same."""
        ...

    def changing(self) -> bool:
        """Whether it is worth while to look; cheap, and asked often."""
        ...

    def version(self, connection: sa.Connection) -> int:
        """A number that changes when another connection than this one has committed."""
        ...

    def caught_up(self) -> None:
        """We have just looked at all that others had committed by then."""
        ...

    def close(self) -> None:
        """Nobody asks any more."""
        ...


class Life(Protocol):
    """What a process holds under an orchestrator's id for as long as it lives."""

    def close(self) -> None:
        """Let go: from now on everybody may take our runs."""
        ...


class Backend(Protocol):
    """One database of one kind. The methods that take a connection need nothing else."""

    name: str
    """What errors call this database: a path, or a URL without its secrets."""
    made_by: str
    """Who makes a database where there is none: a remedy."""
    turn: Turn

    @property
    def clock(self) -> Clock:
        """The time of this database: what is stored in it and compared between processes."""
        ...

    @property
    def error(self) -> type[Exception]:
        """What its driver raises."""
        ...

    # ---- finding and opening

    def engine(self, connect: Callable[[], Any]) -> sa.Engine:
        """An engine on what `connect` gives."""
        ...

    def connect(self) -> Any:
        """A connection of the driver, verified to keep what it acknowledges."""
        ...

    def opened(self) -> None:
        """A connection is open from now on; called once."""
        ...

    def close(self) -> None:
        """The last connection is about to be closed."""
        ...

    def ensure_openable(self) -> None:
        """Raise `DatabaseError` if there is nothing to connect to."""
        ...

    def is_there(self) -> bool:
        """Whether there is something to look for a schema in. Raises `DatabaseError`."""
        ...

    def ensure_makeable(self, *, create: bool) -> None:
        """Raise `DatabaseError` unless a new database may be made here without being asked."""
        ...

    def make_room(self) -> None:
        """Make the empty place that the tables are made in."""
        ...

    # ---- transactions

    def begin(self, connection: sa.Connection) -> None:
        """Begin to write; what is read and locked after that cannot be stale."""
        ...

    def begin_reading(self, connection: sa.Connection) -> None:
        """Begin to read one state of the database."""
        ...

    def commit(self, connection: sa.Connection) -> None:
        """Make it durable."""
        ...

    def announce(self, connection: sa.Connection) -> None:
        """Let others know of this transaction once it is durable, where they cannot see it."""
        ...

    def rollback(self, connection: sa.Connection) -> None:
        """Undo the transaction, if the database has not done so itself."""
        ...

    def in_transaction(self, connection: sa.Connection) -> bool:
        """Whether one is open."""
        ...

    def together(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """What is sent to the driver in here need not wait for the answer to what came before.

        Only for statements and questions of ours; an error shows by the end at the latest.
        """
        ...

    def lock(self, connection: sa.Connection, run_ids: Sequence[str]) -> None:
        """Until the transaction ends nobody else writes to these runs; wait for who does."""
        ...

    def alone(self, connection: sa.Connection, name: str) -> None:
        """Until the transaction ends nobody else is in here with this name; wait for who is."""
        ...

    def attempt(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """What fails in here leaves the transaction as it was before."""
        ...

    # ---- statements and errors

    def statement(self, construct: sa.Executable, columns: Sequence[Any]) -> Statement:
        """Compile a statement that takes rows of these columns, once."""
        ...

    def question(self, construct: sa.Executable) -> Asked:
        """Compile a query whose values come by name, once."""
        ...

    def is_text(self, value: object) -> bool:
        """Whether the driver takes this back: what was altered may be no text at all."""
        ...

    def passes(self, error: BaseException) -> bool:
        """Whether the whole transaction may be tried again: it did not happen, and may yet."""
        ...

    def is_lost(self, error: BaseException) -> bool:
        """Whether the connection is gone, and with it what was to be heard of a commit."""
        ...

    def is_violation(self, error: BaseException) -> bool:
        """Whether a constraint refuses it."""
        ...

    def advice(self, error: BaseException) -> str:
        """What whoever reads of this error can do; empty where nothing general can be said."""
        ...

    def end_if_lost(self, error: Exception) -> None:
        """End this process if after this error nobody can know what is on the disk."""
        ...

    # ---- others

    def hints(self, clock: Clock) -> Hints:
        """New ones, for one observer."""
        ...

    def life(self, id_: str) -> Life:
        """Begin to live under an id."""
        ...

    def is_gone(self, id_: str) -> bool:
        """Whether the process with this id is surely gone; without a sign it is not."""
        ...

    def forget(self, id_: str) -> None:
        """Remove what a dead process left behind."""
        ...

    # ---- the schema

    def describe(self, connection: sa.Connection | None) -> dict[str, str]:
        """How it is written and by what, for a person; `None` if it could not be opened."""
        ...

    def begin_upgrade(self, connection: sa.Connection) -> None:
        """Begin the one transaction of an upgrade; whoever else upgrades has ended."""
        ...

    def may_be_made(self) -> bool:
        """Whether an upgrade makes the database where there is none."""
        ...

    def loose_end(self, connection: sa.Connection) -> str | None:
        """A table of which a row refers to nothing after an upgrade."""
        ...

    def differences(self, connection: sa.Connection, metadata: Sequence[sa.MetaData]) -> list[str]:
        """Tables and indexes that are not as these would make them."""
        ...

    def flaws(self, connection: sa.Connection) -> list[str]:
        """Damage below the tables, as the database itself sees it."""
        ...


def backend_of(connection: sa.Connection) -> Backend:
    """The backend of the database that a connection belongs to."""
    found: Backend = connection.get_execution_options()["saga_backend"]
    return found


def driver(connection: sa.Connection) -> Any:
    """The driver's own connection. Hot statements go there: SQLAlchemy's per-row work is theirs."""
    return connection.connection.driver_connection
