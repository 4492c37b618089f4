"""Paused: no new forward calls. Undos and probes go on, and so does everything after `resume`."""

from __future__ import annotations

import asyncio

import pytest

from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.isolation.orders import ORDERS, begin
from tests.orchestrator.running import looks, running

KINDS = {"saga": "chain", "effect": "chain.s2", "provider": "asked"}


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_new_forward_call_starts_while_it_is_paused(world: World, kind: str) -> None:
    world.of(provider="asked").start(s1="hold:gate land")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            world.client.pause(**{kind: KINDS[kind]}, reason="a test", actor="me")
            await until_then(lambda: orchestrator._now()._runner.brake.paused, "it knows")
            world.ledger.open("gate")
            await until_then(lambda: world.show().steps[0].state == "landed", "s1 is recorded")
            world.start("r2")
            await until_then(
                lambda: kind != "effect" or world.ledger.landed("s1", run_id="r2"),
                "another run goes as far as it may",
            )
            await looks(orchestrator)
            assert world.ledger.calls("s2") == []
            assert len(world.ledger.calls("s1")) == (2 if kind == "effect" else 1)
            assert world.show().steps[1].state == "waiting"
            world.client.resume(**{kind: KINDS[kind]})
            await until_then(
                lambda: {run.outcome for run in world.client.runs()} == {"completed"}, "both go on"
            )

    asyncio.run(main())


@pytest.mark.parametrize("kind", list(KINDS))
def test_undos_and_probes_go_on_while_it_is_paused(world: World, kind: str) -> None:
    """What is unknown is asked about, and what is cancelled is undone."""
    world.of(provider="asked", timeouts={"s2": 0.5}).start(s2="land hold:never")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            world.client.pause(**{kind: KINDS[kind]}, reason="a test")
            await until_then(lambda: orchestrator._now()._runner.brake.paused, "it knows")
            await until_then(lambda: world.show().steps[1].state == "landed", "it is found out")
            assert world.ledger.calls("s3") == [] or kind == "effect"
            if kind == "effect":
                return
            world.client.cancel("r1", reason="enough")
            await until_then(lambda: world.show().outcome == "compensated", "it is undone")

    asyncio.run(main())
    if kind != "effect":
        assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]


def test_a_retry_of_a_forward_action_waits_too(world: World) -> None:
    world.start(s1=["not_sent:0.5", "land"])

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.show().steps[0].state == "not_sent", "it waits")
            world.client.pause(saga="chain", reason="a test")
            await until_then(lambda: orchestrator._now()._runner.brake.paused, "it knows")
            await until_then(lambda: world.show().due_at is not None, "it is due some time")
            await looks(orchestrator, 15)
            assert len(world.ledger.calls("s1")) == 1
            world.client.resume(saga="chain")
            await until_then(lambda: world.show().outcome == "completed", "it goes on")

    asyncio.run(main())
    assert len(world.ledger.calls("s1")) == 2


def test_a_pause_outlives_the_orchestrator(world: World) -> None:
    world.start()
    world.client.pause(saga="chain", reason="a test")

    async def main() -> None:
        async with running(world) as orchestrator:
            await looks(orchestrator)

    asyncio.run(main())
    asyncio.run(main())
    assert world.ledger.calls() == []
    world.client.resume(saga="chain")
    world.run_until_idle()
    assert world.show().outcome == "completed"


def test_run_until_idle_does_not_wait_for_what_is_paused(world: World) -> None:
    world.start()
    world.client.pause(saga="chain", reason="a test")
    world.run_until_idle()
    assert world.ledger.calls() == []


def test_runs_that_a_pause_holds_up_take_nobodys_place(world: World) -> None:
    """Twice as many as there is room for, and yet another saga goes on, and all rest."""
    world.build = ORDERS
    world.of(exclusive=False, names=["s1"], sagas=["chain", "other"])
    begin(world, "first", s1="land")
    world.run_until_idle()
    world.client.pause(saga="chain", reason="a test")
    for number in range(8):
        begin(world, f"r{number}", s1="land")
    begin(world, "other", saga=1, s1="land")
    world.run_until_idle(runs_at_once=4)
    assert world.show("other").outcome == "completed"
    assert {world.show(f"r{number}").phase for number in range(8)} == {"running"}
    world.client.resume(saga="chain")
    world.run_until_idle(runs_at_once=4)
    assert {run.outcome for run in world.client.runs()} == {"completed"}
