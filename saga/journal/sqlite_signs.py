"""What the files of SQLite tell without being read: that somebody has written, that somebody lives.

SQLite tells no other process about a commit, but a commit changes the times of its files, and some
systems tell of that. Ours do too; `data_version` then says whether it was somebody else. And a lock
on a file says that a process lives: a dead one cannot hold it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import sqlalchemy as sa

from saga.clock import Clock
from saga.journal.backend import driver
from saga.journal.file_watch import FileWatch

__all__ = ["FileHints", "LifeLock"]

_SUSPECT_SECONDS = 1.0  # a file changes before its commit is durable and can be seen
_BLIND_SECONDS, _HEARING_SECONDS = 0.005, 0.05  # between two looks at files, without and with that
_TICK_SECONDS = 0.02  # two changes of a file within less may have the same time


class FileHints:
    """Whether it is worth while to ask for the `data_version`."""

    def __init__(self, database: Path, clock: Clock) -> None:
        self._watch = FileWatch()
        self._files = (str(database), f"{database}-wal")  # looked at hundreds of times a second
        self._clock = clock
        self._seen: tuple[tuple[int, int], ...] = ()
        self._until = 0.0  # monotonic

    @property
    def descriptor(self) -> int | None:
        return self._watch.descriptor

    @property
    def patience(self) -> float:
        return _BLIND_SECONDS if self._watch.descriptor is None else _HEARING_SECONDS

    def changing(self) -> bool:
        """Whether the files have changed a short while ago: a commit may be seen any moment."""
        self._watch.clear()
        seen, now = self._look(), self._clock.monotonic()
        if seen != self._seen:
            self._seen, self._until = seen, now + _SUSPECT_SECONDS
        return now < self._until

    def caught_up(self) -> None:
        """Else our own beat would be looked into for a second. Who came after has a tick."""
        self._watch.watch(self._files)
        self._seen, self._until = self._look(), self._clock.monotonic() + _TICK_SECONDS

    def _look(self) -> tuple[tuple[int, int], ...]:
        found = []
        for file in self._files:
            try:
                status = os.stat(file)  # noqa: PTH116  see above
            except FileNotFoundError:
                continue
            found.append((status.st_mtime_ns, status.st_size))
        return tuple(found)

    def version(self, connection: sa.Connection) -> int:
        """A number that changes when another connection than this one has committed."""
        return int(driver(connection).execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Hear nothing any more."""
        self._watch.close()


class LifeLock:
    """A lock that is held for as long as this process lives, under the orchestrator's id."""

    def __init__(self, database: Path, id_: str) -> None:
        self._path = _life_path(database, id_)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def close(self) -> None:
        """Let go: from now on everybody may take our runs."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    @staticmethod
    def is_free(database: Path, id_: str) -> bool:
        """Whether the process with this id is surely gone."""
        try:
            descriptor = os.open(_life_path(database, id_), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            return True
        finally:
            os.close(descriptor)

    @staticmethod
    def forget(database: Path, id_: str) -> None:
        """Remove what a dead process left behind."""
        _life_path(database, id_).unlink(missing_ok=True)


def _life_path(database: Path, id_: str) -> Path:
    return database.with_name(f"{database.name}-life-{id_}")
