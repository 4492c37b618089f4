"""Cancelling: C017, C018, C019."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

import pytest

from saga import App, Call, Compensation, Effect, NotAllowed, Orchestrator, Saga, Step, input_of
from tests.cases.ledger import Ledger
from tests.cases.scripted import Plan, Proof, act, lifespan, take_back
from tests.cases.waiting import until_then
from tests.cases.world import World


def test_cancelling_does_not_cancel_the_clean_up(world: World) -> None:
    """C017, temporalio/sdk-java#305, temporalio/skill-temporal-developer#43.

    The request returns at once, when it is recorded; the call in flight is settled first.
    """
    world.start(s3="hold:gate land", undo_s1="wait:0.05 wait:0.05 land", undo_s2="wait:0.05 land")
    world.orchestrator()
    world.held("gate")
    begun = time.monotonic()
    cancelled = world.client.cancel("r1", reason="not wanted any more")
    assert time.monotonic() - begun < 5
    assert cancelled.phase == "compensating"
    world.client.cancel("r1", reason="once more changes nothing")
    assert world.ledger.calls("undo s2") == []
    world.ledger.open("gate")

    run = world.ends()
    assert (run.outcome, run.cause) == ("compensated", "cancelled")
    assert world.ledger.order() == ["s1", "s2", "s3", "undo s3", "undo s2", "undo s1"]
    assert world.ledger.lines("cancelled") == []
    assert [line["error"] for line in world.ledger.lines("end")] == [None] * 6


def test_cancel_works_while_a_step_waits_for_its_next_attempt(world: World) -> None:
    """C018, restatedev/restate#3656: the next attempt is due in ten minutes, nobody is alive."""
    world.start(s2="not_sent:600")
    world.run_until_idle()
    due = world.show().due_at
    assert due is not None
    assert due.timestamp() > time.time() + 500
    world.client.cancel("r1", reason="not wanted any more")
    begun = time.time()
    world.orchestrator()

    assert world.ends().outcome == "compensated"
    assert world.ledger.landed("undo s1")[0]["at"] < begun + 5
    assert len(world.ledger.calls("s2")) == 1


@pytest.mark.parametrize("alive", [True, False])
def test_a_cancel_is_noticed_within_a_poll(world: World, *, alive: bool) -> None:
    """C018, the same with an owner that holds the run, or has given it back for the long wait."""
    world.start(s2="not_sent:3" if alive else "not_sent:600")
    world.orchestrator()
    world.called("s2")
    begun = time.time()
    world.client.cancel("r1", reason="not wanted any more")

    assert world.ends().outcome == "compensated"
    assert world.ledger.landed("undo s1")[0]["at"] < begun + 2.5
    assert len(world.ledger.calls("s2")) == 1


@pytest.mark.parametrize(
    ("then", "landed"), [("land", True), ("refuse:no", False), ("land drop", True), ("drop", False)]
)
def test_a_cancel_while_the_last_step_is_in_flight_waits_for_it_and_undoes_it(
    world: World, then: str, *, landed: bool
) -> None:
    """C019, simplesourcing/simplesagas#26: it finishes well, with an error, or nobody knows."""
    world.of(provider="asked", timeouts={"s3": 3}).start(s3=f"hold:gate {then}")
    world.orchestrator()
    world.held("gate")
    assert world.client.cancel("r1", reason="not wanted any more").outcome is None
    world.ledger.open("gate")

    run = world.ends()
    assert (run.outcome, run.cause) == ("compensated", "cancelled")
    assert world.ledger.net() == []
    assert ("undo s3" in world.ledger.order()) == landed
    with pytest.raises(NotAllowed, match="has ended as compensated"):
        world.client.cancel("r1", reason="too late")


@pytest.mark.parametrize("landed", [True, False])
def test_a_cancel_while_a_step_that_cannot_be_taken_back_is_in_flight_says_what_it_waits_for(
    world: World, *, landed: bool
) -> None:
    """It may come too late, and whoever asked for it must not take the answer for a promise."""
    world.of(provider="asked", irreversible=["s3"])
    world.start(s3=f"hold:gate {'land' if landed else 'drop'}")
    world.orchestrator()
    world.held("gate")
    said = world.client.cancel("r1", reason="not wanted any more", actor="ada")
    assert said.phase == "running"
    assert said.notice.startswith("r1: the cancel by ada waits: what cannot be taken back")
    world.ledger.open("gate")

    run = world.ends()
    assert run.outcome == ("completed" if landed else "compensated")
    late = "r1: the cancel by ada came too late: what cannot be taken back had landed"
    assert run.notice == (late if landed else "")


async def _stubborn(call: Call[Plan]) -> Proof:
    with suppress(asyncio.CancelledError):  # and goes on as if nothing had been
        await asyncio.sleep(30)
    receipt = call.resource(Ledger).land(call)
    return Proof(receipt_id=receipt, idempotency_key=call.key)


def test_a_step_that_swallows_its_cancellation_and_lands_is_undone(world: World) -> None:
    """C019, third: cut off at its time-out in a cancelled run, it returns normally after all."""
    plan, undo = input_of(Plan), Compensation("undo", take_back)
    steps = [
        Step("s1", Effect("do", act), args=plan, compensation=undo),
        Step("s2", Effect("stubborn", _stubborn, timeout=0.3), args=plan, compensation=undo),
    ]
    saga = Saga("stubborn", plan, steps)
    world.client.start(saga, {}, run_id="r1")
    app = App(saga, lifespan=lifespan(str(world.folder)))

    async def main() -> None:
        orchestrator = Orchestrator(app, world.url, poll=0.05)
        running = asyncio.create_task(orchestrator.run_until_idle())
        await until_then(lambda: world.show().steps[1].state == "sending", "it is in flight")
        world.client.cancel("r1", reason="not wanted any more")
        await running

    asyncio.run(main())
    assert world.show().outcome == "compensated"
    assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]
