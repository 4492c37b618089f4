"""What a run costs: records, statements, commits."""

from __future__ import annotations

import asyncio

import pytest

from tests.cases.faulty_database import OnDatabase
from tests.cases.traced_database import TracedDatabase
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.orchestrator.running import running


@pytest.mark.parametrize(
    ("acts", "records", "outcome"),
    [({}, 4, "completed"), ({"s3": "refuse:no"}, 6, "compensated")],
    ids=["happy", "refused at its third step"],
)
def test_a_run_costs_a_record_per_step_and_one_more(
    world: World, acts: dict[str, str], records: int, outcome: str
) -> None:
    """From the orchestrator; the client's start is one more. No SELECT between claim and end."""
    world.start(**acts)
    statements: list[str] = []

    async def main() -> None:
        async with running(
            world,
            kind=OnDatabase,
            database=TracedDatabase,
            given=statements,
            poll=60.0,
            lease=600.0,
        ):
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    assert world.show().outcome == outcome
    assert world.query("SELECT count(*) FROM journal") == [(records + 1,)]
    first = next(n for n, one in enumerate(statements) if one.startswith("INSERT INTO journal"))
    last = max(n for n, one in enumerate(statements) if one.startswith("INSERT INTO journal"))
    between = statements[first:last]
    assert [one for one in between if one.startswith("SELECT") and "set_config" not in one] == []
    commits = [one for one in between if one == "COMMIT"]
    assert len(commits) == records - 1


def test_a_hundred_runs_at_once_share_their_commits(world: World) -> None:
    """At most a tenth of a commit for each of them, all four records together."""
    count = 400
    for number in range(count):
        world.start(f"r{number:03}")
    commits = [0]

    async def main() -> None:
        async with running(world, runs_at_once=100, lease=120.0, poll=0.5) as orchestrator:
            await until_then(
                lambda: world.query("SELECT 1 FROM runs WHERE phase <> 'ended' LIMIT 1") == [],
                "all have ended",
            )
            commits[0] = orchestrator.commits

    asyncio.run(main())
    assert len(world.ledger.landed()) == 3 * count
    assert 0 < commits[0] <= 0.1 * count, commits[0] / count


def test_the_row_is_there_with_its_pid_before_the_first_claim(world: World) -> None:
    world.start()
    statements: list[str] = []

    async def main() -> None:
        async with running(world, kind=OnDatabase, database=TracedDatabase, given=statements):
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    registered = next(n for n, s in enumerate(statements) if "INSERT INTO orchestrators" in s)
    claimed = next(n for n, s in enumerate(statements) if s.startswith("UPDATE runs SET owner"))
    assert "COMMIT" in statements[registered:claimed]
    worker = world.orchestrator()
    world.start("r2", s1="hold:gate land")
    world.held("gate")
    ((pid, state, owner),) = world.query(
        "SELECT o.pid, o.state, r.owner FROM runs r JOIN orchestrators o ON o.id = r.owner"
    )
    assert (pid, state) == (worker.pid, "alive")
    assert owner
    world.ledger.open("gate")
    world.ends("r2")
