"""A COMMIT that returns an error may have happened: nothing is doubled, nothing is lost."""

from __future__ import annotations

import asyncio
import random

import pytest

from saga import Call, Run
from saga.inquiries.source import Source
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.cases.faulty_database import OnDatabase
from tests.cases.scripted import Plan, Proof, act
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.orchestrator.doubtful_database import Doubt, DoubtfulDatabase, RandomlyDoubtful
from tests.orchestrator.one_step import one_step
from tests.orchestrator.running import running

FATES = ["before", "after"]


def _whole(world: World, run: Run, *, calls: int) -> None:
    """One effect per step, nothing that a person has to look at, no gap in the journal."""
    assert run.outcome == "completed"
    assert len(world.ledger.calls(run_id=run.id)) == calls
    landed = [line["key"] for line in world.ledger.landed(run_id=run.id)]
    assert len(landed) == len(set(landed)) == len(run.steps)
    assert world.client.cases(None) == []
    numbers = [n for (n,) in world.query("SELECT seq FROM journal WHERE run_id = ?", run.id)]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("fate", FATES)
def test_a_record_in_doubt_is_read_before_anything_is_done(world: World, fate: str) -> None:
    """Every record of the run, one after the other, with a provider that cannot even be asked."""
    world.of(provider="neither", probe=False)
    world.start()
    doubt = Doubt(fate, "fine", fate, "fine", fate, only="INSERT INTO journal")

    async def main() -> None:
        async with running(world, kind=OnDatabase, database=DoubtfulDatabase, given=doubt):
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    assert doubt.hit >= 4
    _whole(world, world.show(), calls=3)
    assert {step.attempts for step in world.show().steps} <= {1, 2}


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("table", ["UPDATE runs SET owner", "UPDATE orchestrators"])
def test_a_claim_or_a_beat_in_doubt_is_made_again(world: World, table: str, fate: str) -> None:
    """In doubt, owner and fence are compared: what we own and do not hold is taken up."""
    world.of(provider="neither", probe=False)
    doubt = Doubt(only=table)

    async def main() -> None:
        async with running(
            world, kind=OnDatabase, database=DoubtfulDatabase, given=doubt, lease=0.6
        ):
            world.start()
            doubt.plan(fate, fate, "fine", fate)
            await until_then(lambda: world.show().phase == "ended", "it has ended")
            if "orchestrators" in table:
                await until_then(lambda: doubt.hit >= 4, "some beats came back with an error")

    asyncio.run(main())
    assert doubt.hit >= 1
    _whole(world, world.show(), calls=3)


@pytest.mark.parametrize("fate", FATES)
def test_a_start_in_doubt_is_one_start(
    world: World, fate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to `start` is the run, if it is there, or an error, if it is not."""
    world.start("other")
    doubt = Doubt(fate, only="INSERT INTO runs")
    _client_on(world, doubt, monkeypatch)
    if fate == "after":
        assert world.start("r1").id == "r1"
    else:
        with pytest.raises(Exception, match="the commit failed"):
            world.start("r1")
        assert world.query("SELECT count(*) FROM runs WHERE run_id = 'r1'") == [(0,)]
        assert world.start("r1").id == "r1"  # whoever does not know asks again
    assert world.start("r1").id == "r1"
    world.run_until_idle()
    _whole(world, world.show("r1"), calls=3)


@pytest.mark.parametrize("fate", FATES)
def test_a_cancel_in_doubt_is_answered_truly(
    world: World, fate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start(s2="not_sent:600")
    world.run_until_idle()
    doubt = Doubt(fate, only="INSERT INTO journal")
    _client_on(world, doubt, monkeypatch)
    if fate == "after":
        assert world.client.cancel("r1", reason="enough").phase == "compensating"
    else:
        with pytest.raises(Exception, match="the commit failed"):
            world.client.cancel("r1", reason="enough")
        assert world.show().phase == "running"
        assert world.client.cancel("r1", reason="enough").phase == "compensating"
    world.run_until_idle()
    assert world.show().outcome == "compensated"
    assert world.ledger.order() == ["s1", "undo s1"]


def _client_on(world: World, doubt: Doubt, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the client's database is a doubtful one."""
    database = DoubtfulDatabase(world.url, Keyring.parse(""))
    database.given = doubt

    def opened(self: Source, *, create: bool = False) -> Database:
        return database

    world.client.close()
    monkeypatch.setattr(Source, "database", opened)


def test_an_intent_that_became_durable_in_doubt_is_called_once(world: World) -> None:
    """The commit of the intent says no, and has happened: its call is made, once, later."""
    calls: list[int] = []

    async def counted(call: Call[Plan]) -> Proof:
        calls.append(call.attempt)
        return await act(call)

    app = one_step(world, counted)
    world.client.start(app.sagas[0], {}, run_id="r1")
    doubt = Doubt("after", only="INSERT INTO actions")

    async def main() -> None:
        async with running(world, app, kind=OnDatabase, database=DoubtfulDatabase, given=doubt):
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    assert doubt.hit == 1
    assert len(calls) == 1
    assert world.show().outcome == "completed"


def test_chance_at_every_commit_doubles_and_loses_nothing(world: World) -> None:
    """Thirty percent of all commits come back with an error, with a provider nobody can ask."""
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")  # noqa: T201  a failure must be repeatable
    world.of(provider="neither", probe=False)
    for number in range(12):
        world.start(f"r{number}", **({"s3": "refuse:no"} if number % 2 else {}))
    chance = random.Random(seed)

    async def main() -> None:
        async with running(
            world, kind=OnDatabase, database=RandomlyDoubtful, given=chance, lease=60
        ):
            await until_then(
                lambda: world.query("SELECT count(*) FROM runs WHERE phase = 'ended'") == [(12,)],
                "all have ended",
            )

    asyncio.run(main())
    for run in world.client.runs():
        assert run.outcome == ("compensated" if int(run.id[1:]) % 2 else "completed")
        assert (run.outcome == "compensated") == (world.ledger.net(run.id) == [])
    keys = [line["key"] for line in world.ledger.landed()]
    assert len(keys) == len(set(keys)) == 6 * 3 + 6 * 4
    assert world.client.cases(None) == []
