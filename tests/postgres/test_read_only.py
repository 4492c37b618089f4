"""A server that only lets read: who reads is served, who writes is told, and work goes on after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from saga import Client
from saga.errors import DatabaseError
from tests.cases.waiting import until
from tests.cases.world import World
from tests.cli.shell import Shell
from tests.databases import ServerDatabases, with_schema
from tests.postgres.programs import programs
from tests.postgres.server import Server, served, standby


@pytest.fixture
def primary() -> Iterator[Server]:
    """One of our own, that a test may stop."""
    with served(of=programs()) as one:
        yield one


@pytest.fixture
def world(tmp_path: Path, primary: Server) -> Iterator[World]:
    databases = ServerDatabases(primary, lambda: with_schema(primary))
    world = World(tmp_path, databases).of(names=["s1", "s2"])
    try:
        yield world
    finally:
        world.close()


def test_a_standby_is_read_and_taken_up_after_its_promotion(world: World, primary: Server) -> None:
    """One orchestrator, that has both in its URL, loses the primary in the midst of a run."""
    world.start("done")
    world.run_until_idle()
    with standby(primary) as second:
        both = f"{world.url},{folder_of(second)}"
        world.url = both
        orchestrator = world.orchestrator()
        world.start("r1", s1="land", s2="hold:gate land")
        world.held("gate")
        with psycopg.connect(primary.url, autocommit=True) as connection:
            (at,) = connection.execute("SELECT pg_current_wal_lsn()").fetchone() or ()
        here = second.url.replace("/postgres?", f"/{Server.name_of(both)}?")
        until(lambda: _replayed(second, at), "the standby has it all")
        with closing(Client(here)) as client:
            reads_and_does_not_write(client)
            commands_say_so(world, here)
        primary.end()
        until(lambda: "is read-only" in orchestrator.log, "it is noticed")
        used, began = orchestrator.processor_seconds, time.monotonic()
        time.sleep(1.5)
        used = orchestrator.processor_seconds - used
        assert used < 0.3 * (time.monotonic() - began), used
        assert orchestrator.log.count("is read-only") <= 3  # said once a life, not once a look
        world.ledger.open("gate")
        with psycopg.connect(second.url, autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")
        world.client.close()
        world.client = Client(here)
        assert world.rests("r1").outcome == "completed"
        assert world.client.verify().ok
        world.url = here
        world.lawful()
        world.close()


def test_a_database_that_was_made_read_only_is_waited_for(world: World, primary: Server) -> None:
    """The sessions that are there stay as they were begun; so they are given up."""
    orchestrator = world.orchestrator()
    world.start("r1", s1="hold:gate land")
    world.held("gate")
    name = Server.name_of(world.url)
    switch = f"ALTER DATABASE {name} SET default_transaction_read_only = "
    world.query(f"{switch}on")
    everybody = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
    world.query(f"{everybody} AND datname = current_database()")
    until(lambda: "is read-only" in orchestrator.log, "it is noticed")
    with pytest.raises(DatabaseError, match="is read-only"):
        world.start("r2")
    assert world.show("r1").phase == "running"
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute(f"{switch}off")
    world.ledger.open("gate")
    assert world.rests("r1").outcome == "completed"
    world.start("r2")
    assert world.rests("r2").outcome == "completed"
    world.lawful()


def reads_and_does_not_write(client: Client) -> None:
    assert client.show("done").outcome == "completed"
    assert {run.id for run in client.runs()} == {"done", "r1"}
    assert client.why("r1").holds
    assert client.health().orchestrators
    assert client.verify().ok
    assert len(list(client.journal("done"))) > 2
    for write in (
        lambda: client.cancel("r1", reason="enough"),
        lambda: client.pause(saga="chain", reason="enough"),
    ):
        with pytest.raises(DatabaseError, match="is read-only: a standby") as refused:
            write()
        assert "promote" in refused.value.remedy


def commands_say_so(world: World, url: str) -> None:
    app = f"from tests.cases import scripted\napp = scripted.app({str(world.folder)!r})\n"
    (world.folder / "app.py").write_text(app)
    shell = Shell(world.folder)
    for words in (
        ("cancel", "r1", "--reason", "enough"),
        ("start", "app.py:app", "chain", "new", "{}"),
        ("orchestrator", "app.py:app"),
        ("db", "upgrade"),
    ):
        answer = shell.saga(*words, env={"SAGA_DATABASE_URL": url})
        assert answer.code == 6, (words, answer)
        assert "is read-only" in answer.err
        assert "promote the standby" in answer.err


def folder_of(server: Server) -> str:
    return server.url.partition("host=")[2]


def _replayed(server: Server, at: str) -> bool:
    with psycopg.connect(server.url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [at]).fetchone()
    return row == (True,)
