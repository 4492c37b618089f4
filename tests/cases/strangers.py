"""Orchestrators that are only told of: a row that says alive, and the lock that goes with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from saga.clock import Clock
from saga.journal.database import backend_for
from tests.cases.world import World

__all__ = ["stranger"]


@contextmanager
def stranger(world: World, name: str) -> Iterator[None]:
    """Somebody of this name is alive for as long as the block takes, and does nothing."""
    life = backend_for(world.url, Clock()).life(name)
    try:
        world.query(
            "INSERT INTO orchestrators "
            "(id, host, pid, sagas, state, beat, beat_at, lease, stuck) "
            "VALUES (?, 'elsewhere', 1, '[]', 'alive', 1, ?, 600.0, 0)",
            name,
            time.time(),
        )
        yield
    finally:
        life.close()
