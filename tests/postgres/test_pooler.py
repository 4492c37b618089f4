"""Behind a pooler that lends out its connections by the transaction everything works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from saga.journal.schema import check, upgrade
from saga.journal.sealing import Keyring
from tests.cases.waiting import until, until_then
from tests.cases.world import World, judged
from tests.orchestrator.running import running
from tests.postgres import pooler
from tests.postgres.server import Server

RUNS = 40


@pytest.fixture(scope="module")
def before(postgres: Server) -> Iterator[pooler.Pooler]:
    with pooler.pooler(postgres) as one:
        yield one


@pytest.fixture
def world(
    tmp_path: Path, postgres: Server, empty_schema: Callable[[], str], before: pooler.Pooler
) -> Iterator[World]:
    databases = pooler.PooledDatabases(postgres, empty_schema, before)
    with judged(World(tmp_path, databases)) as world:
        yield world
    databases.end()


def test_sagas_go_to_their_end_and_are_undone(world: World) -> None:
    """By two orchestrators and a client who all get each other's sessions, over and over."""
    for number in range(RUNS):
        acts = {} if number % 2 else {"s3": "refuse:no"}
        world.start(f"r{number}", **acts)
    first = world.orchestrator()
    world.orchestrator()
    until(lambda: len(world.ledger.landed()) > RUNS, "they are under way")
    first.kill()
    for number in range(RUNS):
        run = world.rests(f"r{number}")
        assert run.outcome == ("completed" if number % 2 else "compensated")
    assert world.client.verify().ok
    assert world.client.cancel(world.start("late").id, reason="enough").outcome == "compensated"
    assert "SyntaxError" not in first.log
    assert "does not exist" not in first.log


def test_what_others_do_is_found_by_the_poll(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "saga.journal")

    async def main() -> None:
        async with running(world, poll=0.2) as orchestrator:
            assert "the poll finds it" in caplog.text
            await asyncio.sleep(0.3)
            world.start()
            await until_then(lambda: world.show().phase == "ended", "it ends", 10)
            assert not orchestrator._now()._lookout._hints.changing()

    asyncio.run(main())


def test_nothing_of_ours_is_left_on_a_session_and_nothing_is_expected_there(world: World) -> None:
    """Others may use the same pool: what they leave behind on a session is not relied on either."""
    left = (
        "SELECT current_setting('lock_timeout'),"
        " current_setting('idle_in_transaction_session_timeout'), current_setting('jit'),"
        " (SELECT count(*) FROM pg_prepared_statements),"
        " (SELECT count(*) FROM pg_listening_channels()), pg_backend_pid()"
    )
    with everybody(world) as others:
        for one in others:
            one.execute("SET synchronous_commit = off")  # as another application may
        for number in range(10):
            world.start(f"r{number}")
        world.run_until_idle()
        for one in others:
            one.execute("BEGIN")  # so that each has a session of its own
        rows = [one.execute(left).fetchall()[0] for one in others]
    assert len({pid for *_, pid in rows}) == 3
    assert [list(found) for *found, _ in rows] == [["0", "0", "on", 0, 0]] * 3


@contextmanager
def everybody(world: World) -> Iterator[list[psycopg.Connection[Any]]]:
    """As many others as there are sessions in the pool."""
    with ExitStack() as stack:
        connections = (psycopg.connect(world.url, autocommit=True) for _ in range(3))
        yield [stack.enter_context(closing(one)) for one in connections]


def test_a_commit_is_waited_for_whatever_another_user_of_the_session_has_set(
    world: World,
) -> None:
    seen = "CREATE TABLE seen AS SELECT current_setting('synchronous_commit') AS value LIMIT 0"
    world.query(seen)
    world.query(
        "CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO seen SELECT concat(current_setting('synchronous_commit'),"
        " current_setting('lock_timeout')); RETURN NULL; END $$"
    )
    world.query(
        "CREATE TRIGGER looking AFTER INSERT ON journal FOR EACH ROW EXECUTE FUNCTION look()"
    )
    with everybody(world) as others:
        for one in others:
            one.execute("BEGIN")
        for one in others:
            one.execute("COMMIT; SET synchronous_commit = off")
    world.start()
    world.run_until_idle()
    # A start that stores a new definition may wait for another one that does.
    assert world.query("SELECT DISTINCT value FROM seen ORDER BY 1") == [("on1s",), ("on30s",)]
    world.query("DROP TRIGGER looking ON journal")


def test_the_schema_is_made_and_checked_through_it(world: World) -> None:
    url = world.databases.empty()
    assert upgrade(url, Keyring())[0] is None
    for _ in range(8):  # often enough for a driver to prepare what it is asked
        condition = check(url, Keyring())
        assert not condition.problems


def test_a_missing_pooler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(pytest.skip.Exception, match="no PgBouncer"):
        pooler.program()
