"""The database file cannot be written for longer than anybody waits for a turn, or is gone."""

from __future__ import annotations

import asyncio
import fcntl

import pytest

from saga import Client, DatabaseError
from saga.journal import sqlite
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.databases import files_only
from tests.orchestrator.running import running


@files_only
@pytest.mark.parametrize("lease", [30.0, 0.9], ids=["shorter than the lease", "longer"])
def test_a_turn_to_write_that_never_comes_is_waited_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, lease: float
) -> None:
    """Somebody holds the turn, twice as long as it is waited for: nothing is lost, nobody dies."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.5)
    world.of(provider="both", timeout=60).start(s1=["land hold:gate", "land"])

    async def main() -> None:
        async with running(world, lease=lease) as orchestrator:
            first = orchestrator._now()
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            with (world.folder / "saga.db-turn").open("r+") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                world.ledger.open("gate")
                await until_then(lambda: world.ledger.lines("end"), "its answer waits")
                await until_then(lambda: "has held the turn" in caplog.text, "it notices")
                await until_then(lambda: lease > 1 or first.over, "a short lease is over")
            await until_then(lambda: world.show().phase == "ended", "it goes on", 20)

    asyncio.run(main())
    assert world.show().outcome == "completed"
    assert world.ledger.order() == ["s1", "s2", "s3"]
    assert len(world.ledger.calls("s1")) <= 2


@files_only
@pytest.mark.parametrize("anew", [False, True], ids=["removed", "replaced"])
def test_a_file_that_has_lost_its_name_gets_no_intents_and_nothing_is_called(
    world: World, caplog: pytest.LogCaptureFixture, *, anew: bool
) -> None:
    """Whatever were written there, nobody would ever find it; and a new file has other keys."""
    world.start(s1="hold:gate land")
    moved = world.folder / "moved"
    moved.mkdir()

    async def main() -> None:
        async with running(world, lease=30.0):
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            for file in world.folder.glob("saga.db*"):
                file.rename(moved / file.name)
            if anew:
                Client(f"sqlite:///{world.folder / 'saga.db'}").start(
                    world.app.sagas[0], {"acts": {}}, run_id="r2"
                )
            world.ledger.open("gate")
            await until_then(lambda: world.ledger.lines("end"), "its answer is there")
            await until_then(lambda: "removed or replaced" in caplog.text, "it notices")
            await asyncio.sleep(0.3)

    asyncio.run(main())
    assert len(world.ledger.calls()) == 1
    with pytest.raises(DatabaseError, match="removed or replaced"):
        world.client.show("r1")
    for file in world.folder.glob("saga.db*"):
        file.unlink()
    for file in moved.iterdir():
        file.rename(world.folder / file.name)
    world.run_until_idle()
    assert world.show().outcome == "completed"
