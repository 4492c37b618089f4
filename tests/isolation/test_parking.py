"""A run that waits for a person may give its turn to others; to go on it takes it again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga import NotAllowed
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.isolation.orders import begin, interleaved
from tests.orchestrator.running import looks, running


def stuck(world: World, run_id: str = "r1", **tuning: Any) -> str:
    """Start a run whose second step is unknown, and let it open a case; the id of that."""
    world.of(**{"provider": "asked", "names": ["s1", "s2", "s3"], **tuning})
    begin(world, run_id, s2=["land drop", "land"], ask_s2="nobody knows")
    world.run_until_idle()
    (case,) = world.show(run_id).cases
    return case


def decide(world: World, case: str, verdict: str, **more: Any) -> None:
    world.client.case(case)
    world.client.resolve(case, verdict, reason="a test", looked_at=None, **more)


def landed(world: World, case: str) -> None:
    """The person has looked: it did land."""
    receipt = world.ledger.landed("s2", run_id=case.split("/", maxsplit=1)[0])[0]["receipt"]
    key = world.client.show(case.split("/", maxsplit=1)[0]).steps[1].key
    decide(world, case, "landed", receipt={"receipt_id": receipt, "idempotency_key": key})


def test_others_have_the_turn_while_it_waits_for_a_person(world: World) -> None:
    case = stuck(world)
    begin(world, "r2")
    world.run_until_idle()
    assert not world.ledger.calls(run_id="r2")
    assert world.client.why("r2").rule == "turn"

    run = world.client.park("r1", reason="the bank answers on Monday", actor="ada")
    assert (run.turn, run.phase, run.cases) == ("parked", "running", (case,))
    assert world.client.park("r1", reason="again").turn == "parked"  # as it was
    assert [hold.rule for hold in world.client.why("r1").holds][:2] == ["case", "parked"]
    world.run_until_idle()
    assert world.show("r2").outcome == "completed"

    landed(world, case)
    assert world.show("r1").turn == "waits"
    world.run_until_idle()
    assert world.show("r1").outcome == "completed"
    assert world.ledger.order() == ["s1", "s2", "s1", "s2", "s3", "s3"]
    events = world.client.journal("r1")
    (parked,) = [e for record in events for e in record.events if e["kind"] == "parked"]
    assert (parked["reason"], parked["actor"]) == ("the bank answers on Monday", "ada")


def test_after_the_verdict_it_waits_for_its_turn_again(world: World) -> None:
    case = stuck(world)
    world.client.park("r1", reason="later")
    begin(world, "r2", s2="hold:gate land")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "the other one is under way")
            await asyncio.to_thread(landed, world, case)
            begin(world, "r3")
            await looks(orchestrator, 10)
            assert world.show("r1").turn == "waits"
            assert not world.ledger.calls("s3")
            assert "r1" not in orchestrator._now()._runner.runs
            world.ledger.open("gate")
            await until_then(lambda: world.show("r3").phase == "ended", "all have ended")

    asyncio.run(main())
    # It was started first, so it goes on before those that came later.
    assert [line["run_id"] for line in world.ledger.calls("s3")] == ["r2", "r1", "r3"]
    assert interleaved(world, ["r2", "r3"]) == []


def test_what_is_sent_again_by_a_verdict_waits_too(world: World) -> None:
    case = stuck(world, provider="both", retry={"resends": 0})
    world.client.park("r1", reason="later")
    begin(world, "r2", s2="hold:gate land")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "the other one is under way")
            await asyncio.to_thread(decide, world, case, "retry")
            await looks(orchestrator, 10)
            assert len(world.ledger.calls("s2", run_id="r1")) == 1
            world.ledger.open("gate")
            await until_then(lambda: world.show("r1").phase == "ended", "it has ended")

    asyncio.run(main())
    assert len(world.ledger.calls("s2", run_id="r1")) == 2
    assert world.show("r1").outcome == "completed"


def test_it_is_undone_without_the_turn(world: World) -> None:
    """Compensations never wait behind the new work of others."""
    stuck(world)
    world.client.park("r1", reason="later")
    begin(world, "r2", s2="hold:gate land")

    async def main() -> None:
        async with running(world):
            await until_then(lambda: world.ledger.lines("held"), "the other one is under way")
            run = world.client.cancel("r1", reason="enough")
            assert (run.phase, run.turn) == ("compensating", None)
            (case,) = world.show("r1").cases
            await asyncio.to_thread(landed, world, case)
            await until_then(lambda: world.show("r1").phase == "ended", "it is undone")
            assert world.show("r2").phase == "running"
            world.ledger.open("gate")
            await until_then(lambda: world.show("r2").phase == "ended", "the other one goes on")

    asyncio.run(main())
    assert world.show("r1").outcome == "compensated"


def test_one_whose_undo_is_stuck_gives_its_turn_away_for_good(world: World) -> None:
    begin(world, "r1", s2="refuse:no", undo_s1="refuse:never")
    begin(world, "r2")
    world.run_until_idle()
    assert not world.ledger.calls(run_id="r2")
    run = world.client.park("r1", reason="the refund is argued about")
    assert (run.phase, run.turn) == ("compensating", None)
    world.run_until_idle()
    assert world.show("r2").outcome == "completed"
    (case,) = world.show("r1").cases
    decide(world, case, "accept")
    world.run_until_idle()
    assert world.show("r1").outcome == "settled"


def test_only_a_run_with_the_turn_a_case_and_nothing_in_flight_can_be_parked(world: World) -> None:
    begin(world, "r1", s1="hold:gate land")
    begin(world, "r2")
    with pytest.raises(NotAllowed, match="waits for nobody"):
        world.client.park("r1", reason="why not")
    with pytest.raises(NotAllowed, match="has not got the turn"):
        world.client.park("r2", reason="why not")
    world.ledger.open("gate")
    world.run_until_idle()
    with pytest.raises(NotAllowed, match="has ended"):
        world.client.park("r1", reason="why not")


def test_a_run_that_waits_for_its_turn_again_keeps_its_deadline(world: World) -> None:
    world.of(deadline=6.0, provider="asked", names=["s1", "s2", "s3"])
    begin(world, "r1", s2=["land drop", "land"], ask_s2="nobody knows")

    async def main() -> None:
        async with running(world):
            await until_then(lambda: world.show("r1").cases, "its case is open")
            world.client.park("r1", reason="later")
            begin(world, "r2", s2="hold:gate land")
            await until_then(lambda: world.ledger.lines("held"), "the other one is under way")
            await asyncio.to_thread(landed, world, world.show("r1").cases[0])
            await until_then(lambda: world.show("r1").phase == "ended", "it is out of time")
            assert world.show("r2").phase == "running"
            world.ledger.open("gate")
            await until_then(lambda: world.show("r2").phase == "ended", "the other one goes on")

    asyncio.run(main())
    run = world.show("r1")
    assert (run.outcome, run.cause) == ("compensated", "deadline")
    assert world.ledger.order("r1") == ["s1", "s2", "undo s2", "undo s1"]
