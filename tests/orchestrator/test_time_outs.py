"""Functions that take too long: the loop, the beat and all others go on."""

from __future__ import annotations

import asyncio
import threading

from saga import (
    App,
    Call,
    Effect,
    NothingToUndo,
    Retry,
    Saga,
    Step,
    input_of,
)
from tests.cases.scripted import Plan, Proof
from tests.cases.waiting import LONG, until_then
from tests.cases.world import World
from tests.orchestrator.one_step import RESULTS, kinds, one_step, proof
from tests.orchestrator.running import running


def test_a_plain_function_blocks_neither_the_loop_nor_the_beat(world: World) -> None:
    held, ticks = threading.Event(), [0]

    def blocking(call: Call[Plan]) -> Proof:
        held.wait(LONG)
        return proof(call)

    app = one_step(world, blocking)
    for number in range(4):
        world.client.start(app.sagas[0], {}, run_id=f"r{number}")

    async def main() -> None:
        async def tick() -> None:
            while True:
                await asyncio.sleep(0.001)
                ticks[0] += 1

        async with running(world, app, lease=3) as orchestrator:
            before = orchestrator.id
            ticking = asyncio.create_task(tick())
            await until_then(lambda: _beat(world) > 4, "more than a lease has passed")
            ticking.cancel()
            assert orchestrator.id == before
            held.set()
            await until_then(lambda: _ended(world) == 4, "all have ended")

    asyncio.run(main())
    assert ticks[0] > 100
    assert {run.steps[0].attempts for run in world.client.runs()} == {1}


def test_async_effects_never_wait_for_plain_ones_that_are_stuck(world: World) -> None:
    """`threads=3`: two of three functions never return in time, and the last thread is kept free.

    The third is not even recorded as sent, and goes on when one of them has returned.
    """
    held = threading.Event()

    def stuck(call: Call[Plan]) -> Proof:
        held.wait(LONG)
        return proof(call)

    async def prompt(call: Call[Plan]) -> Proof:
        return proof(call)

    slow = one_step(world, stuck, timeout=0.3, retry=Retry(attempts=1))
    plan = input_of(Plan)
    step = Step("s1", Effect("p", prompt), args=plan, compensation=NothingToUndo("a test"))
    app = App(*slow.sagas, Saga("prompt", plan, [step]), lifespan=slow.lifespan)
    for number in range(3):
        world.client.start(app.sagas[0], {}, run_id=f"stuck{number}")

    async def main() -> None:
        async with running(world, app, threads=3, grace=0.2):
            await until_then(
                lambda: sum(bool(world.show(f"stuck{n}").cases) for n in range(3)) == 2,
                "two are unknown",
            )
            for number in range(20):
                world.client.start(app.sagas[1], {}, run_id=f"prompt{number}")
            await until_then(lambda: _ended(world) == 20, "the async ones have ended")
            await until_then(lambda: _stuck(world) == 2, "health is told")
            states = {world.show(f"stuck{n}").steps[0].state for n in range(3)}
            assert states == {"unknown", "waiting"}
            held.set()
            await until_then(lambda: _ended(world) == 23, "a late receipt settles a case")

    asyncio.run(main())
    assert world.client.cases() == []
    assert {run.outcome for run in world.client.runs()} == {"completed"}


def test_a_function_that_swallows_its_cancellation_is_cut_off_and_heard_when_it_returns(
    world: World,
) -> None:
    go_on = asyncio.Event()

    async def stubborn(call: Call[Plan]) -> Proof:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        return proof(call)

    app = one_step(world, stubborn, timeout=0.2)
    world.client.start(app.sagas[0], {}, run_id="r1")

    async def main() -> None:
        async with running(world, app):
            await until_then(lambda: world.show().cases, "it is unknown")
            assert world.show().steps[0].error == {
                "type": "TimeoutError", "text": "no answer within 0.2 s", "leaves": []
            }  # fmt: skip
            go_on.set()
            await until_then(lambda: world.show().outcome == "completed", "it is heard")

    asyncio.run(main())
    assert kinds(world, *RESULTS) == ["unknown", "landed"]


def test_a_function_that_never_returns_is_unknown_after_its_time_out(world: World) -> None:
    async def never(call: Call[Plan]) -> Proof:
        await asyncio.Event().wait()
        raise AssertionError

    app = one_step(world, never, timeout=0.1)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)
    assert kinds(world, *RESULTS) == ["unknown"]
    assert len(world.show().cases) == 1


def _beat(world: World) -> int:
    return int(world.query("SELECT max(beat) FROM orchestrators")[0][0])


def _stuck(world: World) -> int:
    return int(world.query("SELECT max(stuck) FROM orchestrators")[0][0])


def _ended(world: World) -> int:
    return int(world.query("SELECT count(*) FROM runs WHERE phase = 'ended'")[0][0])
