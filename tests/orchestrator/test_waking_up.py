"""When an orchestrator looks: hints, due times, what it keeps in memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from functools import partial

import pytest

from saga import Orchestrator
from saga.orchestrator.lookout import HintsOf
from saga.orchestrator.shift import Shift
from saga.testing.silence import Silence
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.isolation.orders import ORDERS, begin
from tests.orchestrator.running import running


def test_a_start_is_noticed_long_before_the_poll(world: World) -> None:
    """By a hint from the database: ten starts, a poll of a minute."""
    world.of(names=["s1"])
    world.start("first")
    worker = world.orchestrator(poll=60.0, lease=600.0)
    world.ends("first")
    waits = []
    for number in range(10):
        begun = time.time()
        world.start(f"r{number}")
        world.ends(f"r{number}")
        waits.append(world.ledger.calls("s1", run_id=f"r{number}")[0]["at"] - begun)
    assert statistics.median(waits) < 1.0
    assert max(waits) < 20.0
    assert worker.alive


def test_a_turn_that_is_given_up_is_passed_on_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else tells of it, and another run is in memory, so that there is something to do."""
    monkeypatch.setattr("saga.journal.postgres_hints._PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr("saga.journal.sqlite_signs._HEARING_SECONDS", 60.0)
    world.build = ORDERS
    world.of()
    begin(world, "other", order="o-2", s1="hold:gate land")
    for number in range(4):
        begin(world, f"r{number}")

    async def main() -> None:
        async with running(world, poll=60.0, lease=600.0):
            await until_then(lambda: all(_has_ended(world, f"r{n}") for n in range(4)), "all", 20)
            world.ledger.open("gate")

    asyncio.run(main())


class _NoHints(Shift):
    _hints: HintsOf = Silence


class _WithoutHints(Orchestrator):
    _shift_type: type[Shift] = _NoHints


def test_without_hints_the_poll_is_enough(world: World) -> None:
    world.of(names=["s1"])
    world.start("first")

    async def main() -> None:
        async with running(world, kind=_WithoutHints, poll=0.3):
            for number in range(3):
                run = world.start(f"r{number}")
                begun = time.monotonic()
                await until_then(partial(_has_ended, world, run.id), "it has ended")
                assert time.monotonic() - begun < 0.3 + 3.0

    asyncio.run(main())


def _has_ended(world: World, run_id: str) -> bool:
    return world.show(run_id).phase == "ended"


def test_a_run_with_nothing_to_do_is_released_and_taken_up_when_it_is_due(world: World) -> None:
    """Given back with the record that says when it is due: no memory, no owner, no poll for it."""
    world.start("long", s1="not_sent:600")
    world.start("short", s1=["not_sent:1", "land"])
    world.start("case", s1="drop", s2="land")
    world.of(provider="neither", probe=False)

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.show("long").steps[0].state == "not_sent", "it waits")
            await until_then(lambda: world.show("case").cases, "a case is open")
            runs = orchestrator._now()._runner.runs
            await until_then(lambda: set(runs) <= {"short"}, "they are released")
            await until_then(lambda: world.show("short").phase == "ended", "the short one ends")
            await until_then(lambda: not runs, "what has ended is released")
            owners = world.query("SELECT DISTINCT owner FROM runs")
            assert owners == [(None,)]

    asyncio.run(main())
    assert len(world.ledger.calls("s1", run_id="long")) == 1


def test_a_released_run_is_taken_up_when_it_is_due(world: World) -> None:
    """Longer than it is kept in memory, shorter than anybody waits for the poll."""
    world.start(s1=["not_sent:6", "land"])
    world.orchestrator(poll=60.0, lease=600.0)
    until(
        lambda: world.query("SELECT owner FROM runs") == [(None,)] and world.ledger.calls(), "out"
    )
    due = world.show().due_at
    assert due is not None
    assert world.ends().outcome == "completed"
    second = world.ledger.calls("s1")[1]["at"]
    assert due.timestamp() <= second < due.timestamp() + 5.0


def test_an_idle_orchestrator_uses_next_to_no_processor(world: World) -> None:
    """Polling, hints and beats together, over two seconds of a process of its own."""
    world.start("first")
    worker = world.orchestrator(poll=0.5, lease=15.0)
    world.ends("first")
    used, over = worker.processor_seconds, time.monotonic() + 2.0
    until(lambda: time.monotonic() > over, "time passes")
    assert worker.processor_seconds - used < 0.6


def test_what_falls_due_while_others_are_decided_does_not_wait_for_the_poll(world: World) -> None:
    """The look found it not due yet, and the deciding of what was claimed took longer than that."""
    world.of(names=["s1"])

    async def main() -> None:
        async with Orchestrator(world.app, world.url, poll=5.0, lease=60.0) as orchestrator:
            shift = orchestrator._now()
            await shift.survey()
            for lead in (0.0, 0.004, 0.04):
                shift._next_due = time.time() + lead
                asyncio.get_running_loop().call_soon(time.sleep, 0.02)
                begun = time.monotonic()
                await shift.wait(5.0)
                assert time.monotonic() - begun < 2.0

    asyncio.run(main())


def test_a_run_that_a_client_ends_while_it_is_held_is_released(world: World) -> None:
    """Its last record is not its owner's, and says nothing of who has it."""
    world.start("short", s1="not_sent:2")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.show("short").steps[0].state == "not_sent", "it waits")
            runs = orchestrator._now()._runner.runs
            assert set(runs) == {"short"}
            assert world.client.cancel("short", reason="changed their mind").phase == "ended"
            await until_then(lambda: not runs, "it is released when it looks", 10.0)

    asyncio.run(main())
    assert world.query("SELECT owner FROM runs") == [(None,)]
