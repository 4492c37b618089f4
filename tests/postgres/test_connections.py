"""Connections that end in the middle: what was under way is read again before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import psycopg
import pytest

from saga.client import Client
from saga.errors import DatabaseError
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.orchestrator.running import running
from tests.postgres.server import Server

RUNS = 60
_KILL = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@contextmanager
def killing(world: World, seconds: float) -> Iterator[list[int]]:
    """All connections are ended, again and again; how many, each time."""
    over, killed = Event(), list[int]()

    def kill() -> None:
        while not over.wait(seconds):
            killed.append(int(world.query(_KILL)[0][0]))

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def _ended(world: World) -> bool:
    return world.query("SELECT count(*) FROM runs WHERE phase = 'ended'") == [(RUNS,)]


@pytest.mark.parametrize("provider", ["both", "neither"])
def test_every_connection_is_ended_over_and_over_and_nothing_is_doubled(
    world: World, provider: str
) -> None:
    """Also at a provider that neither takes keys nor can be asked: the call is not made again."""
    world.of(provider=provider, probe=provider == "both")
    for number in range(RUNS):
        world.start(f"r{number}")

    async def main() -> int:
        async with running(world, lease=3.0):
            with killing(world, 0.15) as killed:
                await until_then(lambda: len(killed) > 20, "it has been cut off often")
            await until_then(lambda: _ended(world), "all have ended")
        return sum(killed)

    assert asyncio.run(main()) > 20
    for number in range(RUNS):
        assert world.show(f"r{number}").outcome == "completed"
    landed = [line["key"] for line in world.ledger.landed()]
    assert len(landed) == len(set(landed)) == 3 * RUNS


def test_a_client_goes_on_after_its_connections_were_ended(world: World) -> None:
    for number in range(3):
        assert world.start(f"r{number}").phase == "running"
        world.query(_KILL)
        assert world.show(f"r{number}").phase == "running"
        world.query(_KILL)
        assert world.client.cancel(f"r{number}", reason="enough").outcome == "compensated"
        world.query(_KILL)
        assert world.client.wait(f"r{number}", timeout=5).outcome == "compensated"
        world.query(_KILL)


def test_a_server_that_is_away_for_longer_than_the_lease_is_waited_for(
    world: World, postgres: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes no new connections either: the orchestrator goes on under a new id, once it can."""
    name = Server.name_of(world.url)

    def serve(allowed: str) -> None:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed}")
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )

    async def main() -> None:
        async with running(world, lease=0.6) as orchestrator:
            first = orchestrator.id
            serve("false")
            try:
                await until_then(lambda: "cannot register anew" in caplog.text, "it says so")
            finally:
                serve("true")
            await until_then(lambda: orchestrator.id != first, "it has a new id")
            world.start()
            await until_then(lambda: world.show().phase == "ended", "it goes on")

    asyncio.run(asyncio.wait_for(main(), 60))
    assert world.show().outcome == "completed"


def test_a_server_that_is_not_there_is_named(world: World) -> None:
    client = Client("postgresql://saga:secret@127.0.0.1:1/db")
    with pytest.raises(DatabaseError, match=r"postgresql://127\.0\.0\.1:1/db") as refused:
        client.runs()
    assert "secret" not in str(refused.value)
