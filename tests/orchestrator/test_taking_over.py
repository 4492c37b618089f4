"""What a lost process has left: when it counts as dead, and what is done first."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from saga import DatabaseError, Orchestrator
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.orchestrator.brake import Brake
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.room import Room
from saga.orchestrator.threads import Threads
from tests.cases.faulty_database import OnDatabase
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.databases import files_only
from tests.orchestrator.running import looks, running

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


class Away(Database):
    """Cannot be reached while `given` has a number: that counts who tried."""

    given: list[int]

    def begin(self, connection: Any) -> None:
        if getattr(self, "given", None):
            self.given[0] += 1
            raise DatabaseError("it is away")
        super().begin(connection)


def test_a_database_that_is_away_is_not_looked_at_without_pause_for_a_death_that_is_due(
    world: World,
) -> None:
    world.of(names=["s1"]).start(s1=["hold:never", "land"])
    lost = world.orchestrator(lease=LEASE)
    world.held("never")
    tries: list[int] = []
    options: dict[str, Any] = {"kind": OnDatabase, "database": Away, "given": tries}

    async def main() -> None:
        async with running(world, lease=60.0, poll=0.2, **options) as heir:
            await until_then(lambda: bool(heir._now()._membership._seen), "it has seen the other")
            world.stop(lost)
            tries.append(1)
            await asyncio.sleep(LEASE * 1.1 + 1.0)
            assert tries[0] < 30
            tries.clear()
            await until_then(lambda: world.show().outcome == "completed", "it is taken over")

    asyncio.run(main())


def test_a_database_that_was_away_is_said_to_be_back(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Once each, or whoever reads the log last takes it for away still."""
    caplog.set_level(logging.INFO, logger="saga")
    world.of(names=["s1"])
    tries: list[int] = []
    options: dict[str, Any] = {"kind": OnDatabase, "database": Away, "given": tries}

    async def main() -> None:
        async with running(world, poll=0.05, **options):
            tries.append(1)
            await until_then(lambda: tries[0] > 3, "it has looked again and again")
            tries.clear()
            await until_then(lambda: "answers again" in caplog.text, "it has noticed")
            await asyncio.sleep(0.2)

    asyncio.run(main())
    said = [line for line in caplog.messages if line.startswith("orchestrator ")]
    assert [line.partition(": ")[2] for line in said] == [
        "it is away",
        "the database answers again",
    ]


class Failing(Database):
    """The commit of the look in which somebody is declared dead fails, once."""

    given: list[str]

    def commit(self, connection: Any) -> None:
        dead = driver(connection).execute("SELECT id FROM orchestrators WHERE state = 'dead'")
        if hasattr(self, "given") and not self.given and (ids := dead.fetchall()):
            self.given += [row[0] for row in ids]
            self.rollback(connection)
            raise DatabaseError("the commit has failed")
        super().commit(connection)


def test_a_death_whose_record_failed_is_recorded_at_the_next_look(world: World) -> None:
    """Not a whole lease later."""
    world.of(names=["s1"]).start(s1=["hold:never", "land"])
    lost = world.orchestrator(lease=4.0)
    world.held("never")
    failed: list[str] = []
    options: dict[str, Any] = {"kind": OnDatabase, "database": Failing, "given": failed}

    async def main() -> None:
        async with running(world, lease=60.0, poll=0.1, **options):
            await asyncio.sleep(0.3)
            world.stop(lost)
            await until_then(lambda: bool(failed), "it is declared dead", 30)
            began = time.monotonic()
            await until_then(lambda: world.show().outcome == "completed", "it is taken over")
            assert time.monotonic() - began < 3.0

    asyncio.run(main())


def test_a_look_takes_no_more_runs_than_fit_its_time() -> None:
    """A tenth of the lease, and half a second: the beat waits for it, and others for the turn."""
    held: list[int] = []
    room = Room(1000, held, Brake(Lanes(Threads(1))), lease=15.0)
    assert room.left == 10  # nobody knows yet how long they are
    room.took(10, 0.002)
    assert room.left == 100
    room.inheriting = True
    assert room.left == 400
    room.took(100, 2.0)
    assert room.left == 25
    room.took(1, 3.0)
    assert room.left == 1
    room.took(0, 3.0)
    assert room.left == 1
    assert Room(1000, held, Brake(Lanes(Threads(1))), lease=0.5)._seconds == 0.05


@files_only
def test_one_file_by_two_names_is_one_database(world: World) -> None:
    """The locks that say who lives, and whose turn it is, stand beside the file itself."""
    world.of(names=["s1"], provider="both", timeout=60).start(s1="hold:gate land")
    link = world.folder / "link.db"
    link.symlink_to(world.folder / "saga.db")
    one = world.orchestrator(lease=30.0)
    world.held("gate")
    another = f"sqlite:///{link}"

    async def main() -> None:
        orchestrator = Orchestrator(world.app, another, lease=30.0, poll=0.05)
        async with orchestrator:
            task = asyncio.create_task(orchestrator.run())
            await looks(orchestrator)
            world.ledger.open("gate")
            await until_then(lambda: world.show().outcome == "completed", "it has ended")
            orchestrator.stop()
            await task

    asyncio.run(main())
    assert [call["pid"] for call in world.ledger.calls("s1")] == [one.pid]
