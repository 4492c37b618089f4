"""Every major version of the server that is found here does all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saga.journal.schema import check, upgrade
from saga.journal.sealing import Keyring
from saga.journal.tables import SCHEMA
from tests.cases.world import World, judged
from tests.databases import ServerDatabases
from tests.postgres.programs import BIN, programs, versions
from tests.postgres.server import served

FOUND = versions()


def test_they_are_those_that_we_promise() -> None:
    """The wheel's is always here; `.ci/run` does not go on without another one."""
    assert FOUND
    assert all(15 <= major <= 18 for major in FOUND)


@pytest.mark.parametrize("major", FOUND)
def test_sagas_run_and_are_verified_in_a_schema_that_is_as_it_should_be(
    tmp_path: Path, major: int
) -> None:
    with served(of=FOUND[major]) as one:
        databases = ServerDatabases(one, one.make)
        world = World(tmp_path, databases)
        assert world.query("SELECT current_setting('server_version_num')::int / 10000") == [
            (major,)
        ]
        assert upgrade(world.url, Keyring()) == (None, SCHEMA)
        assert upgrade(world.url, Keyring()) == (SCHEMA, SCHEMA)
        with judged(world):
            world.start("lands")
            world.start("is-undone", s3="refuse:no", undo_s1=["not_sent", "land"])
            world.start("is-asked", s2=["land drop"])
            process = world.orchestrator()
            assert world.rests("lands").outcome == "completed"
            assert world.rests("is-undone").outcome == "compensated"
            assert world.rests("is-asked").outcome == "completed"
            cancelled = world.start("is-cancelled", s1="hold:gate land")
            world.held("gate")
            world.client.cancel(cancelled.id, reason="enough")
            world.ledger.open("gate")
            assert world.rests("is-cancelled").outcome == "compensated"
            assert {run.phase for run in world.client.runs()} == {"ended"}
            assert world.client.health().ok
            assert world.client.verify().ok
            process.terminate()
            assert process.ended() == 0
        condition = check(world.url, Keyring())
        assert not condition.problems
        assert (condition.server or "").startswith(f"PostgreSQL {major}")


def test_the_one_that_is_chosen_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for major, folder in FOUND.items():
        monkeypatch.setitem(os.environ, BIN, str(folder))
        assert next(iter(versions())) == major
        assert programs() == folder
