"""Orchestrators that are only told of: a row that says alive, and the lock that goes with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from saga.journal.ownership import LifeLock
from saga.journal.sqlite import library
from tests.cases.waiting import LONG
from tests.cases.world import World

__all__ = ["stranger"]


@contextmanager
def stranger(world: World, name: str) -> Iterator[None]:
    """Somebody of this name is alive for as long as the block takes, and does nothing."""
    lock = LifeLock(world.folder / "saga.db", name)
    path = str(world.folder / "saga.db")
    try:
        with closing(library.connect(path, isolation_level=None, timeout=LONG)) as connection:
            connection.execute(
                "INSERT INTO orchestrators "
                "(id, host, pid, sagas, state, beat, beat_at, lease, stuck) "
                "VALUES (?, 'elsewhere', 1, '[]', 'alive', 1, ?, 600.0, 0)",
                (name, time.time()),
            )
        yield
    finally:
        lock.close()
