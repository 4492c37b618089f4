"""The end of an orchestrator: nothing new, what is in flight, everything given back."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from pathlib import Path

import pytest

from saga import Call, Conflict, Orchestrator
from tests.cases.scripted import Plan, Proof
from tests.cases.waiting import LONG, until, until_then
from tests.cases.world import World
from tests.databases import files_only
from tests.orchestrator.one_step import one_step, proof
from tests.orchestrator.running import running


def test_what_is_in_flight_may_finish_within_the_grace_time(world: World) -> None:
    """And nothing new starts: the next step is the next orchestrator's."""
    world.start(s1="hold:gate land")
    world.start("r2", s1="not_sent:0.2")
    worker = world.orchestrator(grace=30.0)
    world.held("gate")
    worker.send(signal.SIGTERM)
    until(lambda: world.query("SELECT state FROM orchestrators") == [("leaving",)], "it leaves")
    world.start("r3")
    assert worker.alive
    world.ledger.open("gate")
    assert worker.ended() == 0

    assert world.show().steps[0].state == "landed"
    assert world.ledger.calls("s2") == []
    assert world.ledger.calls(run_id="r3") == []
    assert world.query("SELECT count(*) FROM runs WHERE owner IS NOT NULL") == [(0,)]
    assert world.query("SELECT state FROM orchestrators") == [("dead",)]
    assert list(world.folder.glob("*-life-*")) == []
    world.client.cancel("r2", reason="enough")
    world.run_until_idle()
    assert world.show().outcome == world.show("r3").outcome == "completed"
    assert {call["attempt"] for call in world.ledger.calls()} == {1}


def test_after_the_grace_time_what_is_in_flight_is_unknown_and_due(world: World) -> None:
    world.of(names=["s1"], provider="both", timeout=600).start(s1=["hold:never", "land"])
    begun = time.monotonic()

    async def main() -> None:
        async with running(world, grace=0.3):
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")

    asyncio.run(main())
    assert time.monotonic() - begun < 20
    run = world.show()
    assert run.steps[0].state == "unknown"
    assert run.due_at is not None
    assert run.due_at.timestamp() <= time.time() + 1
    world.run_until_idle()
    assert world.show().outcome == "completed"


def test_a_plain_function_that_never_returns_does_not_keep_the_process(world: World) -> None:
    world.of(names=["s1"], provider="asked", threaded=["s1"], timeout=0.3)
    world.start(s1="hold:never")
    worker = world.orchestrator(grace=0.3)
    world.held("never")
    worker.send(signal.SIGTERM)
    assert worker.ended(20) == 0
    (key,) = [step.key for step in world.show().steps]
    assert f"{key}: its function has not returned, and is left behind" in worker.log


def test_a_probe_in_flight_at_the_end_is_made_again_by_the_next(world: World) -> None:
    asked: list[float] = []
    hold = threading.Event()

    async def lost(call: Call[Plan]) -> Proof:
        raise ConnectionError("lost")

    async def probe(call: Call[Plan]) -> Proof:
        asked.append(time.monotonic())
        if len(asked) == 1:
            await asyncio.Event().wait()
        return proof(call)

    app = one_step(world, lost, probe=probe, timeout=600)
    world.client.start(app.sagas[0], {}, run_id="r1")

    async def main() -> None:
        async with running(world, app, grace=0.1):
            await until_then(lambda: asked, "it is being asked")

    asyncio.run(main())
    assert not hold.is_set()
    world.run_until_idle(app)
    assert len(asked) == 2
    assert world.show().outcome == "completed"


def test_a_cancelled_run_coroutine_gives_everything_back(world: World) -> None:
    world.of(names=["s1"], provider="both").start(s1=["hold:never", "land"])

    async def main() -> None:
        orchestrator = Orchestrator(world.app, world.url, grace=0.1, poll=0.05)
        task = asyncio.create_task(orchestrator.run())
        await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, LONG)

    asyncio.run(main())
    assert world.query("SELECT count(*) FROM runs WHERE owner IS NOT NULL") == [(0,)]
    assert world.query("SELECT state FROM orchestrators") == [("dead",)]
    world.run_until_idle()
    assert world.show().outcome == "completed"


def test_the_same_orchestrator_may_run_once_more(world: World) -> None:
    orchestrator = Orchestrator(world.app, world.url, poll=0.05)
    for number in range(2):
        world.start(f"r{number}")
        asyncio.run(asyncio.wait_for(orchestrator.run_until_idle(), LONG))
        assert world.show(f"r{number}").outcome == "completed"


def test_who_waits_asks_nothing_of_a_writer_that_is_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer would never come: `run` was in the midst of a nap when its orchestrator ended."""

    async def main() -> None:
        async with Orchestrator(world.app, world.url) as orchestrator:
            shift = orchestrator._now()
        monkeypatch.setattr(shift._lookout._hints, "changing", lambda: True)
        await asyncio.wait_for(shift.wait(0.1), LONG)

    asyncio.run(main())


def test_a_stop_is_heard_whatever_else_has_just_ended_a_nap(world: World) -> None:
    async def main() -> None:
        async with Orchestrator(world.app, world.url, poll=60.0, lease=600.0) as orchestrator:
            task = asyncio.create_task(orchestrator.run())
            await asyncio.sleep(0.3)
            orchestrator._now().wake()
            orchestrator.stop()
            await asyncio.wait_for(task, 20.0)

    asyncio.run(main())


def test_a_start_that_fails_leaves_nothing_behind(world: World) -> None:
    """Neither threads nor connections, nor a lock that says somebody lives."""

    def left() -> tuple[int, int, int]:
        files = len(list(world.folder.glob("saga.db-life-*")))
        return threading.active_count(), len(list(Path("/proc/self/fd").iterdir())), files

    def fails() -> None:
        with pytest.raises(Conflict, match="version=2"):
            asyncio.run(Orchestrator(other, world.url).run_until_idle())

    world.of(names=["s1"])
    other = world.app
    world.of(names=["s1", "s2"])
    world.run_until_idle()
    fails()  # what is opened once for a process
    before = left()
    for _ in range(3):
        fails()
    assert left() == before


def test_whoever_leaves_right_after_a_stop_ends_the_run_as_well(world: World) -> None:
    async def main() -> None:
        async with Orchestrator(world.app, world.url) as orchestrator:
            task = asyncio.create_task(orchestrator.run())
            await asyncio.sleep(0.2)
            orchestrator.stop()
        await asyncio.wait_for(task, LONG)

    asyncio.run(main())


@files_only
def test_an_orchestrator_that_cannot_register_says_so_and_leaves_nothing_open(
    world: World,
) -> None:
    (world.folder / "saga.db").write_text("this is no database file, and a long enough text")
    with pytest.raises(Exception, match=r"saga\.db"):
        world.run_until_idle()
    (world.folder / "saga.db").unlink()
