"""Several who write to one run, or to one file: lost races, clients, other orchestrators."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from saga import Call, Client, Orchestrator
from saga.journal.sqlite import library
from saga.orchestrator.survey import look_again
from tests.cases.ledger import Ledger
from tests.cases.processes import Process
from tests.cases.scripted import Plan, Proof
from tests.cases.waiting import LONG, until, until_then
from tests.cases.world import World
from tests.databases import files_only
from tests.isolation.orders import ORDERS, begin
from tests.orchestrator.one_step import kinds, one_step, proof
from tests.orchestrator.running import running


def test_an_answer_that_lost_a_race_is_decided_again(world: World) -> None:
    """A client appends just before the answer of a call in flight does: read again, not lost."""
    raced = threading.Event()

    async def racing(call: Call[Plan]) -> Proof:
        call.resource(Ledger).called(call)
        Client(world.url).cancel(call.run_id, reason="at the same moment")
        raced.set()
        call.resource(Ledger).land(call)
        return proof(call)

    async def undo(call: Call[Plan]) -> None:
        call.resource(Ledger).land(call)

    app = one_step(world, racing, undo=undo)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app, poll=30.0, lease=120.0)

    assert raced.is_set()
    assert world.show().outcome == "compensated"
    assert kinds(world, "landed", "unknown", "cancel_recorded") == [
        "cancel_recorded", "landed", "landed"
    ]  # fmt: skip
    assert world.ledger.order() == ["s1", "undo s1"]
    assert len(world.ledger.calls()) == 1
    assert world.query("SELECT max(fence) FROM runs") == [(2,)]  # it was ours all the time


def test_what_a_client_appends_is_noticed_within_a_poll(world: World) -> None:
    """The owner has the run in memory, in a long call; nobody tells it but the database."""
    world.of(timeout=60).start(s1="land", s2="hold:gate land")

    async def main() -> None:
        async with running(world, poll=0.2) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            world.client.cancel("r1", reason="enough")
            held = orchestrator._now()._runner.runs["r1"]
            asked = time.monotonic()
            await until_then(lambda: held.state.phase == "compensating", "it is noticed")
            assert time.monotonic() - asked < 0.2 + 2.0
            world.ledger.open("gate")
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_small_tenant_and_another_saga_do_not_wait_behind_a_backlog(
    world: World, processes: int
) -> None:
    """They are started last, and are served with what is claimed next, not with what is left."""
    world.build = ORDERS
    world.of(exclusive=False, names=["s1"], sagas=["chain", "other"])
    for number in range(80):
        begin(world, f"big-{number:02}", tenant="big", s1="wait:0.02 land")
    begin(world, "small", tenant="small", s1="wait:0.02 land")
    begin(world, "other", tenant="big", saga=1, s1="wait:0.02 land")
    workers = [world.orchestrator(runs_at_once=4) for _ in range(processes)]
    for name in ("small", "other"):
        world.ends(name)
    _all_end(world, 82, workers)
    called = [line["run_id"] for line in world.ledger.calls("s1")]
    assert len(called) == 82
    # Two of a claim: those before the first full one, then one of each party in turn.
    assert max(called.index("small"), called.index("other")) < 12 * processes


@files_only
def test_a_run_that_takes_no_owner_keeps_nobody_busy(world: World) -> None:
    """However small the room is: it is not asked for again and again."""
    world.of(names=["s1"])
    world.start("bad")
    world.start("good")
    with closing(library.connect(str(world.folder / "saga.db"))) as connection:
        connection.execute(
            "CREATE TRIGGER refused BEFORE UPDATE OF owner ON runs WHEN NEW.run_id = 'bad'"
            " AND NEW.owner IS NOT NULL BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    orchestrator = Orchestrator(world.app, world.url, runs_at_once=1)
    asyncio.run(asyncio.wait_for(orchestrator.run_until_idle(), LONG))
    assert world.show("good").outcome == "completed"
    assert world.show("bad").phase == "running"


def _all_end(world: World, count: int, workers: list[Process]) -> None:
    """All runs, and then the processes that have run them."""
    ended = "SELECT count(*) FROM runs WHERE phase = 'ended'"
    until(lambda: world.query(ended) == [(count,)], "all have ended")
    for worker in workers:
        worker.terminate()
        assert worker.ended() == 0


def test_several_orchestrators_share_the_runs_of_one_file(world: World) -> None:
    """Three processes, room for four runs each: all of them work, and no call is made twice."""
    world.of(names=["s1", "s2"])
    for number in range(36):
        world.start(f"r{number:02}", s1="wait:0.05 land")
    workers = [world.orchestrator(runs_at_once=4) for _ in range(3)]
    _all_end(world, 36, workers)

    calls = world.ledger.calls()
    assert len(calls) == len({call["key"] for call in calls}) == 72
    assert {call["pid"] for call in calls} == {worker.pid for worker in workers}
    assert world.query("SELECT DISTINCT state FROM orchestrators") == [("dead",)]


@pytest.mark.parametrize("ending", ["killed", "stopped"])
def test_the_runs_of_one_that_is_gone_are_taken_over(world: World, ending: str) -> None:
    """Ended properly: everything was given back. Killed: a file tells at once, else the beat."""
    told = ending == "stopped" or world.databases.kind == "sqlite"
    lease = 30.0 if told else 3.0
    world.of(names=["s1"], provider="both")
    for number in range(5):
        world.start(f"r{number}", s1=["hold:never", "land"])
    first = world.orchestrator(lease=lease, grace=0.1)
    world.called("s1", 5)
    second = world.orchestrator(lease=lease)
    if ending == "killed":
        first.kill()
    else:
        first.terminate()
        assert first.ended() == 0
    begun = time.monotonic()
    for number in range(5):
        assert world.ends(f"r{number}").outcome == "completed"
    assert time.monotonic() - begun < 15
    assert ("taking over" in second.log) == (ending == "killed")


def test_a_record_that_the_database_refuses_is_tried_again_later_and_later(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Refused for one run only (by a trigger that a test may make): the others go on."""
    world.start("bad")
    for number in range(10):
        world.start(f"good{number}")
    allow = world.databases.refuse_records(world.url, "bad", "not this run")
    refusals: list[float] = []

    def refused() -> int:
        lines = [r.created for r in caplog.records if "could not be recorded" in r.getMessage()]
        refusals[:] = lines
        return len(lines)

    async def main() -> None:
        async with running(world):
            await until_then(
                lambda: world.query("SELECT count(*) FROM runs WHERE phase = 'ended'") == [(10,)],
                "the others have ended",
            )
            await until_then(lambda: refused() == 2, "it is tried a second time")
            why = await asyncio.to_thread(world.client.why, "bad")
            assert "not this run" in str(why)
            allow()
            await until_then(lambda: world.show("bad").phase == "ended", "it has ended")

    asyncio.run(main())
    assert world.show("bad").outcome == "completed"
    assert len(world.ledger.calls(run_id="bad")) == 3
    assert refused() == 2
    assert refusals[1] - refusals[0] >= 1.9
    later = world.ledger.calls("s1", run_id="bad")[0]["at"] - refusals[1]
    assert later >= 3.5


def test_a_reading_that_fails_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it fails with: until it has been read again, nothing is decided on the run."""
    once = [MemoryError("no memory to read it")]

    def failing(*arguments: Any) -> Any:
        if once:
            raise once.pop()
        return look_again(*arguments)

    async def racing(call: Call[Plan]) -> Proof:
        Client(world.url).cancel(call.run_id, reason="at the same moment")
        call.resource(Ledger).land(call)
        return proof(call)

    async def undo(call: Call[Plan]) -> None:
        call.resource(Ledger).land(call)

    monkeypatch.setattr("saga.orchestrator.shift.look_again", failing)
    app = one_step(world, racing, undo=undo)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app, poll=30.0, lease=120.0)
    assert not once
    assert world.show().outcome == "compensated"
    assert "no memory to read it" in caplog.text
