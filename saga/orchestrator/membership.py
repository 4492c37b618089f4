"""Being one of several orchestrators: an id, a lease, a beat, and an eye on the others.

Every method that takes a connection runs on the writer's thread, in a write transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

from saga.clock import Clock
from saga.journal import ownership
from saga.journal.database import Database

__all__ = ["Membership"]

_PATIENCE = 1.1  # so many leases without a beat, and a peer counts as dead: clocks differ
_log = logging.getLogger("saga")


class _Seen(NamedTuple):
    """The last beat of a peer that we have seen, and until when it counts as alive (monotonic)."""

    beat: int
    until: float


class Membership:
    """One life of this process under one id; after a lost lease there is another.

    `lost` is called on the loop when the lease ends, however long a beat takes to renew it.
    """

    def __init__(
        self,
        database: Database,
        id_: str,
        lease: float,
        clock: Clock,
        lost: Callable[[], None],
    ) -> None:
        self.id = id_
        self.lease = lease
        self._database = database
        self._clock = clock
        self._lost = lost
        self._alarm: asyncio.TimerHandle | None = None
        self._life = database.backend.life(id_)
        self._ends = 0.0  # monotonic
        self._sent = 0.0
        self._seen: dict[str, _Seen] = {}  # by the id of a peer

    @property
    def holds(self) -> bool:
        """Whether our lease still runs; asked before every call."""
        return self._clock.monotonic() < self._ends

    @property
    def beat_is_due(self) -> bool:
        """Three beats a lease."""
        return self._clock.monotonic() >= self._sent + self.lease / 3

    @property
    def verdict_at(self) -> float:
        """When the next of the others counts as dead, unless it is seen to beat (monotonic).

        One that should be dead by now is not among them: a look that fails is no reason to look.
        """
        now = self._clock.monotonic()
        return min([one.until for one in self._seen.values() if one.until > now], default=inf)

    def register(self, connection: Any, sagas: Sequence[tuple[str, int]]) -> None:
        """Make our row; nothing is claimed before it is durable."""
        self._sent = self._clock.monotonic()
        ownership.register(connection, self.id, sagas, self.lease, self._database.now())

    def beat(self, connection: Any, stuck: int, refused: str | None) -> bool:
        """Beat; False if somebody has declared us dead."""
        self._sent = self._clock.monotonic()
        return ownership.beat(connection, self.id, self._database.now(), stuck, refused)

    def renewed(self) -> None:
        """The last beat is durable: the lease counts from before it was sent."""
        self._ends = self._sent + self.lease
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        left = self._ends - self._clock.monotonic()
        self._alarm = asyncio.get_running_loop().call_later(left, self._rung)

    def _rung(self) -> None:
        if self.holds:
            self._set_alarm()
        else:
            self._lost()

    def bury(self, connection: Any) -> bool:
        """Declare dead whoever has not beaten for its lease, or is surely gone.

        False if somebody has declared us dead: then nothing may be claimed, our own runs included.
        """
        now = self._clock.monotonic()
        alive, seen = False, dict[str, _Seen]()
        for peer in ownership.peers(connection, ""):
            if peer.id == self.id:
                alive = True
                continue
            last = self._seen.get(peer.id)
            if last is None or last.beat != peer.beat:
                last = _Seen(peer.beat, now + _PATIENCE * peer.lease)
            silent = now >= last.until
            seen[peer.id] = last  # until it is not there any more: this transaction may yet fail
            if not silent and not self._database.backend.is_gone(peer.id):
                continue
            if ownership.declare_dead(connection, peer):
                self._database.backend.forget(peer.id)
                why = "has not beaten for its lease" if silent else "has ended"
                _log.warning("orchestrator %s (pid %d) %s; taking over", peer.id, peer.pid, why)
        self._seen = seen
        return alive

    def leave(self, connection: Any) -> None:
        """Say that nothing new is started here any more."""
        ownership.leave(connection, self.id)

    def release_all(self, connection: Any) -> None:
        """Give back all runs, at the end."""
        ownership.release_all(connection, self.id, self._database.now())

    def close(self) -> None:
        """End this life: the lock that says so is free from now on."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._ends = 0.0
        self._life.close()
