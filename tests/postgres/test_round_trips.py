"""What one caller waits for: how often a client asks the server and waits for its answer."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from psycopg.pq import Trace

from saga.journal.backend import driver
from tests.cases.world import World

# What is answered at once, and the end of the answer.
_TELLING = re.compile(r"[FB]\t\S+\t(Query|Sync|Flush|ReadyForQuery)\b")


@contextmanager
def counted(world: World) -> Iterator[list[int]]:
    """How many times an answer was waited for, by the one connection that the client has."""
    trips: list[int] = []
    with world.client._source.database().connection() as connection:
        raw = driver(connection).pgconn
    with tempfile.TemporaryFile("w+") as file:
        raw.trace(file.fileno())
        raw.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS | Trace.REGRESS_MODE)
        yield trips
        raw.untrace()
        file.seek(0)
        trips.append(_trips(file))


def _trips(lines: Iterable[str]) -> int:
    """A flush after all has been sent asks for nothing that would not come anyway."""
    trips, coming = 0, False
    for found in filter(None, map(_TELLING.match, lines)):
        trips += found[1] != "ReadyForQuery" and not coming
        coming = found[1] in ("Query", "Sync")
    return trips


def test_a_start_asks_the_server_five_times(world: World) -> None:
    """To begin; what is there; to write; to commit; and then who is alive."""
    world.start("r1")
    with counted(world) as trips:
        world.start("r2")
    assert trips == [5]


def test_whoever_waits_for_what_has_ended_asks_twice(world: World) -> None:
    """Whether it rests; and for all that is stored of it."""
    world.start("r1")
    world.orchestrator()
    world.ends("r1")
    world.client.wait("r1", 10)  # what is asked for the first time is prepared, too
    with counted(world) as trips:
        assert world.client.wait("r1", 10).outcome == "completed"
    assert trips == [2]
