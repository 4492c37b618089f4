"""What a lost process has left: when it counts as dead, and what is done first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saga.journal.database import Database
from tests.cases.faulty_database import OnDatabase
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.orchestrator.running import running

LEASE = 0.6


def test_a_death_is_noticed_when_the_lease_is_over_not_at_the_next_poll(world: World) -> None:
    """Stopped, not killed: no file says that it is gone, and nobody writes who would wake us."""
    world.of(names=["s1"]).start(s1=["hold:never", "land"])
    lost = world.orchestrator(lease=LEASE)
    world.held("never")
    world.stop(lost)
    ((fence,),) = world.query("SELECT fence FROM runs")

    async def main() -> None:
        async with running(world, lease=200.0, poll=50.0):
            began = time.monotonic()
            taken = "SELECT 1 FROM runs WHERE fence > ?"
            await until_then(lambda: bool(world.query(taken, fence)), "it is taken over")
            assert time.monotonic() - began < 10.0

    asyncio.run(main())


def test_all_that_the_dead_have_left_is_taken_up_before_any_of_it_is_moved(world: World) -> None:
    """Two claims bring it; until the second one nothing is recorded."""
    world.of(names=["s1"], provider="both")
    for number in range(30):
        world.start(f"r{number}", s1=["hold:never", "land"])
    lost = world.orchestrator(lease=LEASE)
    until(lambda: len(world.ledger.lines("held")) == 30, "all calls are in flight")
    lost.kill()
    left = world.query("SELECT DISTINCT owner FROM runs")

    class Noting(Database):
        given: list[list[Any]]

        @contextmanager
        def batch(self, connection: Any) -> Iterator[Any]:
            self.given.append(world.query("SELECT DISTINCT owner FROM runs"))
            with super().batch(connection) as given:
                yield given

    noted: list[list[Any]] = []
    options: dict[str, Any] = {"kind": OnDatabase, "database": Noting, "given": noted}

    async def main() -> None:
        async with running(world, runs_at_once=40, **options) as heir:
            ended = "SELECT count(*) FROM runs WHERE phase = 'ended'"
            await until_then(lambda: world.query(ended) == [(30,)], "all have ended")
            assert left != [(heir.id,)]
            assert noted[0] == [(heir.id,)]

    asyncio.run(main())
