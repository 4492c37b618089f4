"""What comes over a server and its clients in a storm, beside the deaths of processes."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psycopg

from tests.crash.nursery import Child
from tests.crash.orders import ADRIFT_SECONDS
from tests.crash.trouble import Trouble
from tests.postgres.proxy import WAYS, Proxy
from tests.postgres.server import Server

__all__ = ["CutCommits", "JumpingClocks", "KilledBackends", "StoppedServer", "clockwork"]

_WAIT = 10.0  # seconds for a cut to find its commit
_DOWN = 0.3  # the longest that the server is left alone when it has stopped
_OURS = """
SELECT pid FROM pg_stat_activity WHERE datname = %s AND application_name = 'saga'
ORDER BY state = 'idle', random() LIMIT 6
"""


def clockwork() -> Path | None:
    """libfaketime, if this machine has it (`apt-get install faketime`)."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    found += sorted(Path("/usr").glob("lib*/faketime/libfaketimeMT.so.1"))
    return found[0] if found else None


class StoppedServer(Trouble):
    """The server is stopped at once, and started again after a moment."""

    name = "immediate stops of the server"

    def __init__(self, server: Server, wanted: int, seconds: float, chance: random.Random) -> None:
        super().__init__(wanted, seconds, chance)
        self._server = server

    def strike(self) -> int:
        self._server.stop_at_once()
        time.sleep(self.chance.uniform(0, _DOWN))
        self._server.start()
        return 1


class KilledBackends(Trouble):
    """`pg_terminate_backend` of one of ours, rather one that has something to do."""

    name = "backends killed"

    def __init__(self, url: str, wanted: int, seconds: float, chance: random.Random) -> None:
        super().__init__(wanted, seconds, chance)
        self._url = url

    def strike(self) -> int:
        with suppress(psycopg.OperationalError), psycopg.connect(self._url) as connection:
            found = connection.execute(_OURS, [Server.name_of(self._url)]).fetchall()
            if found:
                (pid,) = self.chance.choice(found)
                done = connection.execute("SELECT pg_terminate_backend(%s)", [pid]).fetchone()
                return int(done == (True,))
        return 0


class CutCommits(Trouble):
    """A connection is cut between a COMMIT and its answer."""

    name = "commits in doubt"

    def __init__(self, proxy: Proxy, wanted: int, seconds: float, chance: random.Random) -> None:
        super().__init__(wanted, seconds, chance)
        self._proxy = proxy

    def strike(self) -> int:
        before, end = self._proxy.cuts.total(), time.monotonic() + _WAIT
        self._proxy.cut(WAYS[self.done % len(WAYS)])
        while self._proxy.cuts.total() == before and time.monotonic() < end:
            time.sleep(0.005)
        return self._proxy.cuts.total() - before


class JumpingClocks(Trouble):
    """The clock of one process jumps, forward or back; it counts where that one lives on."""

    name = "jumps of a clock"

    def __init__(
        self, alive: Sequence[Child], wanted: int, seconds: float, chance: random.Random
    ) -> None:
        super().__init__(wanted, seconds, chance)
        self._alive = alive

    def strike(self) -> int:
        assert clockwork() is not None, "no libfaketime here: apt-get install faketime"
        if not (alive := [*self._alive]):
            return 0
        child = self.chance.choice(alive)
        seconds = self.chance.uniform(-ADRIFT_SECONDS, ADRIFT_SECONDS)
        fresh = child.clock.with_suffix(".next")
        fresh.write_text(f"{seconds:+.3f}")
        fresh.replace(child.clock)
        time.sleep(0.1)
        return int(child in self._alive)
