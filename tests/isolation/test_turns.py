"""Runs of one resource go one after the other, and nothing else waits for them."""

from __future__ import annotations

import asyncio
import json

import pytest

from saga import BadInput, NotAllowed
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.isolation.orders import begin, interleaved, turns
from tests.orchestrator.running import looks, running


def test_runs_of_one_order_go_one_after_the_other_as_they_were_started(world: World) -> None:
    names = [f"r{number}" for number in (3, 1, 5, 2, 4)]
    for name in names:
        begin(world, name, s1="wait:0.02 land", s2="wait:0.02 land")
    assert turns(world) == {
        "r3": "holds",
        "r1": "waits",
        "r5": "waits",
        "r2": "waits",
        "r4": "waits",
    }
    world.run_until_idle()
    assert interleaved(world, names) == []
    assert [line["run_id"] for line in world.ledger.calls("s1")] == names
    assert {run.outcome for run in world.client.runs()} == {"completed"}
    assert turns(world) == {}


def test_other_orders_and_other_tenants_do_not_wait(world: World) -> None:
    begin(world, "r1", s1="hold:gate land")
    begin(world, "r2", "o2", s1="hold:gate land")
    begin(world, "r3", tenant="other", s1="hold:gate land")
    begin(world, "r4", s1="land")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: len(world.ledger.lines("held")) == 3, "three are under way")
            await looks(orchestrator)
            assert not world.ledger.calls(run_id="r4")
            assert world.query("SELECT owner, due_at FROM runs WHERE run_id = 'r4'") == [
                (None, None)
            ]
            assert "r4" not in orchestrator._now()._runner.runs
            world.ledger.open("gate")
            await until_then(lambda: world.show("r4").phase == "ended", "its turn has come")

    asyncio.run(main())


def test_the_turn_is_one_for_all_sagas(world: World) -> None:
    world.of(sagas=("chain", "other"))
    begin(world, "r1", s1="wait:0.05 land")
    begin(world, "r2", saga=1)
    begin(world, "r3", s1="wait:0.05 land")
    world.run_until_idle()
    assert interleaved(world, ["r1", "r2", "r3"]) == []
    assert [line["run_id"] for line in world.ledger.calls("s1")] == ["r1", "r2", "r3"]


def test_the_next_one_goes_on_promptly(world: World) -> None:
    """Long before the poll: whoever ends a run looks for the next one."""
    names = [f"r{number:02}" for number in range(20)]
    for name in names:
        begin(world, name)

    async def main() -> None:
        async with running(world, poll=600.0, lease=3000.0):
            last = names[-1]
            await until_then(lambda: world.show(last).phase == "ended", "all have ended", 20)

    asyncio.run(main())
    assert {run.outcome for run in world.client.runs()} == {"completed"}
    assert interleaved(world, names) == []


@pytest.mark.parametrize("started", ["before", "after"])
def test_a_run_that_winds_down_keeps_its_turn_until_it_has_ended(
    world: World, started: str
) -> None:
    begin(world, "r1", s2="refuse:no", undo_s1="hold:gate land")
    if started == "before":
        begin(world, "r2")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "it is being undone")
            if started == "after":
                begin(world, "r2")
            await looks(orchestrator)
            assert not world.ledger.calls(run_id="r2")
            world.ledger.open("gate")
            await until_then(lambda: world.show("r2").phase == "ended", "the next one")

    asyncio.run(main())
    assert interleaved(world, ["r1", "r2"]) == []
    assert world.ledger.order() == ["s1", "undo s1", "s1", "s2"]


def test_a_run_that_waits_is_cancelled_at_once(world: World) -> None:
    """Nothing has landed, so its end needs neither the turn nor an orchestrator."""
    for number in (1, 2, 3):
        begin(world, f"r{number}")
    run = world.client.cancel("r2", reason="enough")
    assert (run.phase, run.outcome, run.cause) == ("ended", "compensated", "cancelled")
    assert turns(world) == {"r1": "holds", "r3": "waits"}
    run = world.client.cancel("r1", reason="enough")
    assert run.outcome == "compensated"
    assert turns(world) == {"r3": "waits"}
    world.run_until_idle()
    assert world.show("r3").outcome == "completed"
    assert {line["run_id"] for line in world.ledger.calls()} == {"r3"}


def test_whoever_comes_later_stands_behind_those_that_wait(world: World) -> None:
    """Also while nobody has the turn."""
    for number in (1, 2):
        begin(world, f"r{number}")
    world.client.cancel("r1", reason="enough")
    begin(world, "r3")
    assert turns(world) == {"r2": "waits", "r3": "waits"}
    world.run_until_idle()
    assert [line["run_id"] for line in world.ledger.calls("s1")] == ["r2", "r3"]


def test_the_deadline_of_a_run_that_waits_is_kept(world: World) -> None:
    world.of(deadline=0.6)
    begin(world, "r1", s1="hold:gate land")
    begin(world, "r2")

    async def main() -> None:
        async with running(world):
            await until_then(lambda: world.show("r2").phase == "ended", "it is out of time")
            assert world.show("r1").phase == "running"
            world.ledger.open("gate")
            await until_then(lambda: world.show("r1").phase == "ended", "the call has ended")

    asyncio.run(main())
    run = world.show("r2")
    assert (run.outcome, run.cause) == ("compensated", "deadline")
    assert not world.ledger.calls(run_id="r2")


def test_the_turn_outlives_the_orchestrator(world: World) -> None:
    """It is given back in the middle of the run; nobody else begins before it has ended."""
    begin(world, "r1", s1=["hold:never", "land"])
    begin(world, "r2")
    first = world.orchestrator(grace=0.1, lease=30.0)
    world.held("never")
    first.terminate()
    assert first.ended() == 0
    assert turns(world) == {"r1": "holds", "r2": "waits"}
    world.run_until_idle()
    assert interleaved(world, ["r1", "r2"]) == []
    assert {run.outcome for run in world.client.runs()} == {"completed"}


def test_two_processes_that_are_killed_never_interleave(world: World) -> None:
    """Twelve runs about two orders; every now and then one of two orchestrators dies."""
    runs = {f"o{number}": [f"o{number}-{n}" for n in range(6)] for number in (1, 2)}
    for number in range(6):
        for order in runs:
            begin(
                world,
                f"{order}-{number}",
                order,
                s1=["land die", "land"] if number % 3 == 0 else "wait:0.02 land",
                s2="refuse:no" if number % 3 == 1 else "wait:0.02 land",
                undo_s1=["wait:0.05 die", "land"] if number == 4 else "land",
            )
    workers = [world.orchestrator(lease=30.0, runs_at_once=3) for _ in range(2)]
    ended = "SELECT count(*) FROM runs WHERE phase = 'ended'"

    def over() -> bool:
        for place, worker in enumerate(workers):
            if not worker.alive:
                workers[place] = world.orchestrator(lease=30.0, runs_at_once=3)
        return world.query(ended) == [(12,)]

    until(over, "all have ended", 60)
    for names in runs.values():
        assert interleaved(world, names) == []
        first = [line["run_id"] for line in world.ledger.calls("s1")]
        assert [name for name in dict.fromkeys(first) if name in names] == names
    assert turns(world) == {}


def test_why_says_who_has_the_turn_since_when_and_what_frees_it(world: World) -> None:
    begin(world, "r1", s1="hold:gate land")
    begin(world, "r2")
    begin(world, "r3")

    async def main() -> None:
        async with running(world):
            await until_then(lambda: world.ledger.lines("held"), "it is under way")
            why = world.client.why("r3")
            assert why.rule == "turn"
            assert "it waits for the turn of o1, which run r1 has since " in why.text
            assert "1 run stands in line before it" in why.evidence
            assert "saga why r1" in why.freed_by
            assert "saga park r1 --reason" in why.freed_by
            assert any("it has the turn of o1" in fact for fact in world.client.why("r1").evidence)
            shown = world.show("r3")
            assert (shown.turn, shown.resource) == ("waits", "o1")
            assert world.client.health().ok
            world.ledger.open("gate")
            await until_then(lambda: world.show("r3").phase == "ended", "all go on")

    asyncio.run(main())
    assert (world.show("r3").turn, world.show("r3").resource) == (None, "o1")


def test_without_an_orchestrator_why_says_so(world: World) -> None:
    begin(world, "r1")
    begin(world, "r2")
    rules = [hold.rule for hold in world.client.why("r2").holds]
    assert rules == ["turn", "no_orchestrator"]


def test_other_text_than_an_id_is_stored_as_a_hash(world: World) -> None:
    begin(world, "r1", "ada@example.org, the second one")
    begin(world, "r2", "Zoe\u0301")
    begin(world, "r3", "Zo\u00e9")
    [(shown,)] = world.query("SELECT resource FROM turns WHERE run_id = 'r1'")
    assert len(shown) == 32
    assert turns(world) == {"r1": "holds", "r2": "holds", "r3": "waits"}
    with pytest.raises(BadInput, match="is empty"):
        begin(world, "r4", "")
    world.run_until_idle()


def test_a_record_says_when_it_took_its_turn(world: World) -> None:
    begin(world, "r1")
    begin(world, "r2")
    world.run_until_idle()
    kinds = {
        run_id: [
            event["kind"]
            for (body,) in world.query("SELECT body FROM journal WHERE run_id = ?", run_id)
            for event in json.loads(body)["events"]
        ]
        for run_id in ("r1", "r2")
    }
    assert kinds["r1"][:3] == ["started", "turn_taken", "intended"]
    assert kinds["r2"][:3] == ["started", "turn_taken", "intended"]


def test_who_is_exclusive_about_nothing_cannot_be_parked(world: World) -> None:
    world.of(exclusive=False)
    begin(world, "r1", s1="land")
    with pytest.raises(NotAllowed, match="exclusive about nothing"):
        world.client.park("r1", reason="why not")
    world.run_until_idle()
