"""Notices that somebody has written to PostgreSQL. Correctness rests on the poll.

Whoever is no owner of a run says with each commit that there is news; an orchestrator listens by a
connection of its own. Behind a pooler nobody listens: whoever has that session next would be told.
Nothing but time is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any

import psycopg
import sqlalchemy as sa

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.journal.postgres import is_pooled

__all__ = ["ANNOUNCE", "Notices"]

_CHANNEL = "saga_news"
ANNOUNCE = f"SELECT pg_notify('{_CHANNEL}', '')"
_PATIENCE_SECONDS = 0.05
_AGAIN_SECONDS = 5.0  # between two attempts to listen
_log = logging.getLogger("saga.journal")


class Notices:
    """What one orchestrator hears. `changing` never waits for the server, `version` may."""

    def __init__(self, connect: Callable[[], Any], clock: Clock) -> None:
        self._connect = connect
        self._clock = clock
        self._raw: Any = None
        self._heard = self._told = 0
        self._again_at = 0.0  # monotonic

    @property
    def descriptor(self) -> int | None:
        return None if self._raw is None or self._raw.closed else int(self._raw.fileno())

    @property
    def patience(self) -> float:
        return _PATIENCE_SECONDS

    def changing(self) -> bool:
        """Whether there are notices that nobody has asked for; or it is time to listen again."""
        raw = self._raw
        if raw is None:
            return self._clock.monotonic() >= self._again_at
        try:
            raw.pgconn.consume_input()
            while raw.pgconn.notifies() is not None:
                self._heard += 1
        except psycopg.Error:
            self._raw = None
            return True
        return self._heard != self._told

    def version(self, connection: sa.Connection) -> int:  # noqa: ARG002  as in the seam
        """A number that changes when somebody has said that there is news."""
        if self._raw is None:
            self._listen()
        self._told = self._heard
        return self._told

    def caught_up(self) -> None:
        """A notice comes with its commit."""

    def _listen(self) -> None:
        self._again_at = self._clock.monotonic() + _AGAIN_SECONDS
        with suppress(psycopg.Error, DatabaseError):  # whoever looks is told what it is
            raw = self._connect()
            if is_pooled(raw):
                raw.close()
                self._again_at = inf
                _log.info("behind a pooler nothing is heard of others; the poll finds it")
                return
            try:
                raw.execute(f"LISTEN {_CHANNEL}", prepare=False)
            except psycopg.Error:
                raw.close()  # a standby lets nobody listen
                raise
            self._raw, self._heard = raw, self._heard + 1  # what was said before, nobody heard

    def close(self) -> None:
        """Hear nothing any more."""
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()
