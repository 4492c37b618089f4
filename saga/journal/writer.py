"""Group commit: one thread writes what many runs have ready, in one transaction.

There is no timer. While a commit is under way the next appends gather; when it returns they are all
taken. If the batch fails it is rolled back and redone one run at a time, so that only the faulty
run fails. Other work of the thread that owns the connection (claims, beats) takes its turn between
batches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TypeAlias

import sqlalchemy as sa

from saga.errors import Conflict, DatabaseError
from saga.journal.append import Append, write_appends
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.history import is_recorded

__all__ = ["Failure", "Outcome", "Writer"]

_MOST_WAITS = 2  # for what somebody else has locked, in a row
_BATCH_LIMIT = 1000  # appends of one transaction


@dataclass(frozen=True, slots=True)
class Failure:
    """An append that was not written. `conflict`: somebody else was first; read again."""

    error: Exception
    conflict: bool


Outcome: TypeAlias = list[tuple[Append, Failure | None]]
_Job: TypeAlias = Callable[[Callable[[], sa.Connection]], None]


class Writer:
    """The thread that writes. `done` is called on it, once per batch, with what became of each."""

    def __init__(self, database: Database, done: Callable[[Outcome], None]) -> None:
        self._database = database
        self._done = done
        self._queue: SimpleQueue[Sequence[Append] | _Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="saga-writer", daemon=True)
        self._connection: sa.Connection | None = None
        self.commits = 0  # transactions that wrote appends
        self.appends = 0

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def append(self, appends: Sequence[Append]) -> None:
        """Write these, together with whatever else is ready. Returns at once."""
        self._queue.put(appends)

    def run(self, job: _Job) -> None:
        """Run `job` on the thread, with what gives its connection, outside any transaction.

        It must not raise; asking for the connection may, where the database is away.
        """
        self._queue.put(job)

    def close(self, timeout: float | None = None) -> None:
        """Write what is queued, then end."""
        self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while self._serve():
                pass
        finally:
            if self._connection is not None:
                self._connection.close()

    def _connected(self) -> sa.Connection:
        """Our connection. If there is none to be had, whoever wanted it hears of it, not we."""
        if self._connection is None:
            self._connection = self._database.connection()
        return self._connection

    def _serve(self) -> bool:
        """Wait for something to do, then do all that is there; False when that was the end."""
        appends, jobs, last = self._take()
        if appends:
            self._done(self._write(appends))
        for job in jobs:
            job(self._connected)
        return not last

    def _take(self) -> tuple[list[Append], list[_Job], bool]:
        """Wait for something to do, then take all that is there."""
        appends: list[Append] = []
        jobs: list[_Job] = []
        item = self._queue.get()
        while True:
            if item is None:
                return appends, jobs, True
            if callable(item):
                jobs.append(item)
            else:
                appends += item
            if len(appends) >= _BATCH_LIMIT:
                return appends, jobs, False
            try:
                item = self._queue.get_nowait()
            except Empty:
                return appends, jobs, False

    def _write(self, appends: list[Append]) -> Outcome:
        self.appends += len(appends)
        error = self._try(appends)
        if error is None:
            return [(append, None) for append in appends]
        if len(appends) == 1 or isinstance(error.error, DatabaseError):
            outcome = Outcome((append, error) for append in appends)  # no turn for any of them
        else:
            outcome = self._one_by_one(appends)
        return [(append, failure and self._told(failure)) for append, failure in outcome]

    def _one_by_one(self, appends: list[Append]) -> Outcome:
        """Each in a transaction of its own, but nobody waits for many locks: the beat waits too."""
        outcome, locked = Outcome(), list[Failure]()
        for append in appends:
            failure = self._try([append]) if len(locked) < _MOST_WAITS else locked[-1]
            if failure is not None and self._database.backend.passes(failure.error):
                locked.append(failure)
            outcome.append((append, failure))
        return outcome

    def _told(self, failure: Failure) -> Failure:
        """In words: it is logged, and shown to whoever asks why."""
        return replace(failure, error=self._database.explained(failure.error))

    def _try(self, appends: list[Append]) -> Failure | None:
        """One transaction. After an error in doubt the head says whether it was committed."""
        try:
            connection = self._connected()
        except DatabaseError as error:
            return Failure(error, conflict=False)
        try:
            with self._database.batch(connection):
                write_appends(driver(connection).cursor(), self._database.statements, appends)
        except Conflict as error:
            return Failure(error, conflict=True)
        except DatabaseError as error:  # somebody has held the turn for too long
            return Failure(error, conflict=False)
        except (self._database.backend.error, sa.exc.SQLAlchemyError, OSError) as error:
            self._database.backend.end_if_lost(error)
            if self._written(connection, appends):
                return None
            return Failure(error, conflict=False)
        self.commits += 1
        return None

    def _written(self, connection: sa.Connection, appends: list[Append]) -> bool:
        """A COMMIT that returns an error may have happened: compare what stands in the heads."""
        try:
            return all(is_recorded(connection, one.run_id, one.seq, one.seal) for one in appends)
        except (DatabaseError, sa.exc.SQLAlchemyError, self._database.backend.error):
            return False
