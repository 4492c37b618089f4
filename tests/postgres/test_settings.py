"""What a role, a database or another client of the server has set or locked changes nothing."""

from __future__ import annotations

import asyncio
from contextlib import closing

import psycopg
import pytest
import sqlalchemy as sa

from saga import App, Client, Orchestrator
from saga.errors import DatabaseError
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.isolation.orders import ORDERS
from tests.orchestrator.running import running

_SET = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET {}', current_database()); END $$"  # ours


@pytest.mark.parametrize(
    "setting",
    ["default_transaction_isolation = serializable", "extra_float_digits = -15"],
)
def test_a_default_of_the_database_is_not_ours(world: World, setting: str) -> None:
    """Times were read back with fewer digits than they were sealed with: all was tampered with."""
    world.query(_SET.format(setting))
    world.start()
    world.run_until_idle()
    with closing(Client(world.url)) as client:
        assert client.show("r1").outcome == "completed"
        assert client.verify().damages == ()


def test_who_writes_sees_what_was_committed_before_each_statement(world: World) -> None:
    """Else an id that is purged while a start is under way could be started again."""
    world.query(_SET.format("default_transaction_isolation = ''repeatable read''"))
    with closing(Database(world.url, Keyring())) as database:
        said = database.write(
            lambda connection: driver(connection).execute("SHOW transaction_isolation").fetchone()
        )
    assert said == ("read committed",)


def test_orchestrators_that_begin_at_once_with_other_lists_of_sagas_all_begin(
    world: World,
) -> None:
    """A rolling deployment: each stores the definitions, and none waits for the other in a ring."""
    world.build = ORDERS
    world.of(exclusive=False, names=["s1"], sagas=["a", "b", "c", "d"])
    apps = [App(*world.app.sagas[::step], lifespan=world.app.lifespan) for step in (1, -1)]

    async def main() -> None:
        for _ in range(5):
            world.query("DELETE FROM definitions")
            many = [Orchestrator(apps[number % 2], world.url) for number in range(8)]
            await asyncio.gather(*(one.__aenter__() for one in many))
            await asyncio.gather(*(one.__aexit__(None, None, None) for one in many))

    asyncio.run(main())


def test_the_lock_of_a_stranger_on_one_run_costs_no_other_its_call(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Its record waits for a moment and is written later; the beat does not wait for that long."""
    world.of(names=["s1"])
    for name in ("r1", "r2"):
        world.start(name, s1=f"hold:{name} land")

    async def main() -> None:
        async with running(world, lease=8.0):
            await until_then(lambda: len(world.ledger.lines("held")) == 2, "both are in flight")
            with psycopg.connect(world.url) as stranger:
                stranger.execute("SELECT 1 FROM runs WHERE run_id = 'r1' FOR UPDATE")
                for name in ("r1", "r2"):
                    world.ledger.open(name)
                await until_then(lambda: world.show("r2").phase == "ended", "it is not held up")
                await asyncio.sleep(10.0)
                assert world.show("r1").phase == "running"
            await until_then(lambda: world.show("r1").phase == "ended", "it goes on")
        assert "lost its lease" not in caplog.text

    asyncio.run(main())
    assert {run.outcome for run in world.client.runs()} == {"completed"}
    assert len(world.ledger.calls("s1")) == 2


def test_the_rows_of_those_that_are_long_dead_go(world: World) -> None:
    """Each look would read them, however many have come and gone."""
    world.run_until_idle()
    world.query("UPDATE orchestrators SET id = 'old', beat_at = beat_at - 86500")
    world.run_until_idle()
    world.run_until_idle()
    assert world.query("SELECT count(*) FROM orchestrators WHERE id <> 'old'") == [(2,)]
    assert world.query("SELECT count(*) FROM orchestrators") == [(2,)]


def test_more_threads_than_connections_are_told_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> sa.Connection:
        raise sa.exc.TimeoutError("QueuePool limit")

    with closing(Database(world.url, Keyring())) as database:
        monkeypatch.setattr(database._engine, "connect", none_left)
        with pytest.raises(DatabaseError, match="more threads ask at once") as refused:
            database.read(lambda connection: connection)
        assert "share a Client" in refused.value.remedy
