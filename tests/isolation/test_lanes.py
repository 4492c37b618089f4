"""Room for calls: never more at once than declared, the oldest first, and always room to undo."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga.machine.commands import Start
from saga.machine.decide import transition
from saga.machine.state import FORWARD, UNDO, Action, new_state
from saga.orchestrator.brake import Brake
from saga.orchestrator.compiled import compile_saga
from saga.orchestrator.held import Due, Held, Outgoing
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.threads import Threads
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.isolation.orders import app, begin, most_at_once
from tests.orchestrator.running import looks, running


def _due(run: Held, position: int, direction: str = FORWARD, action: Action | None = None) -> Due:
    step = run.saga.spec.steps[position]
    return Due(step, run.saga.steps[position].side(direction), direction, action)


class Hall:
    """Lanes, runs that ask for room, and whom the lanes have woken."""

    def __init__(self, threads: int = 32, **tuning: Any) -> None:
        self.saga = compile_saga(app("nowhere", exclusive=False, **tuning).sagas[0])
        self.lanes = Lanes(Threads(threads))
        self.brake = Brake(self.lanes)
        self.woken: list[str] = []
        self.lanes.wake = lambda run: self.woken.append(run.run_id)
        self.runs: dict[str, Held] = {}

    def run(self, run_id: str) -> Held:
        if run_id not in self.runs:
            state = new_state(self.saga.spec)
            given = {"order": "o", "plan": {"acts": {}}}
            start = Start(at=1.0, run_id=run_id, instance="i", tenant="", input=given, actor=None)
            transition(self.saga.spec, state, start)
            self.runs[run_id] = Held(self.saga, state, 1, "", 1, 1.0, None)
        return self.runs[run_id]

    def asks(self, run_id: str, direction: str = FORWARD, state: str = "", times: int = 1) -> int:
        """How many calls of the first step the run may begin, of so many that it asks for."""
        run = self.run(run_id)
        action = _action(state) if state else None
        found = 0
        for number in range(times):
            if not self.brake.blocks(run, _due(run, 0, direction, action)):
                key = f"{direction}-{run_id}-{number}-{len(run.outgoing)}"
                run.state.actions[key] = _action("sending", direction, key)
                run.outgoing.append(Outgoing(key, 1, 0.0, 0.0, 0.0))
                found += 1
        self.lanes.seat(run)
        self.lanes.done(run)
        return found

    def ends(self, run_id: str) -> list[str]:
        """Its oldest call ends; who is woken by that."""
        one = self.runs[run_id].outgoing.pop(0)
        self.woken.clear()
        self.lanes.ended((run_id, one.key, one.attempt))
        return self.woken


def _action(state: str, direction: str = FORWARD, key: str = "k") -> Action:
    facts: dict[str, Any] = dict.fromkeys(Action.__dataclass_fields__, None)
    needed = {name: facts[name] for name in list(facts)[:15]}
    return Action(**{**needed, "key": key, "step": 0, "direction": direction, "state": state})


def test_forward_work_leaves_one_place_for_undos() -> None:
    hall = Hall(at_provider=3)
    assert [hall.asks(f"r{number}") for number in range(4)] == [1, 1, 0, 0]
    assert hall.asks("u1", UNDO) == 1
    assert hall.asks("u2", UNDO) == 0


def test_what_settles_an_unknown_takes_the_last_place_too() -> None:
    hall = Hall(limits={"s1": 2})
    assert hall.asks("r1") == 1
    assert hall.asks("r2", state="not_sent") == 0
    assert hall.asks("r3", state="unknown") == 1


def test_those_that_wait_are_woken_oldest_first_and_one_for_each_place() -> None:
    hall = Hall(limits={"s1": 3})
    assert [hall.asks(f"r{number}") for number in range(6)] == [1, 1, 0, 0, 0, 0]
    assert hall.ends("r0") == ["r2"]
    assert hall.asks("late") == 0  # the place is promised
    assert hall.asks("r3") == 0
    assert hall.asks("r2") == 1
    assert hall.ends("r1") == ["r3"]


def test_a_place_that_is_not_taken_goes_to_the_next_one() -> None:
    hall = Hall(limits={"s1": 2})
    assert [hall.asks(name) for name in ("r1", "r2", "r3", "r4")] == [1, 0, 0, 0]
    assert hall.ends("r1") == ["r2"]
    hall.woken.clear()
    hall.lanes.done(hall.run("r2"))  # it was cancelled, and asks for nothing
    assert hall.woken == ["r3"]
    hall.woken.clear()
    hall.lanes.forget(hall.run("r3"))  # it is not ours any more
    assert hall.woken == ["r4"]
    assert hall.asks("r4") == 1


def test_who_was_called_and_finds_its_place_taken_by_an_undo_stays_the_first_in_line() -> None:
    hall = Hall(at_provider=2)
    assert [hall.asks(name) for name in ("r1", "r2", "r3", "r4")] == [1, 0, 0, 0]
    assert hall.ends("r1") == ["r2"]
    assert [hall.asks("u1", UNDO), hall.asks("u2", UNDO)] == [1, 1]
    assert hall.asks("r2") == 0
    assert hall.ends("u1") == []
    assert hall.ends("u2") == ["r2"]


def test_a_probe_counts_as_a_call_and_finds_room_like_an_undo() -> None:
    hall = Hall(limits={"s1": 3})
    assert hall.asks("r1", times=3) == 2
    run = hall.run("r2")
    run.state.actions |= {key: _action("unknown", key=key) for key in ("a", "b")}
    assert not hall.brake.blocks_probe(run, "a")
    assert not hall.brake.blocks_probe(run, "a")  # planned anew, the same one
    assert hall.brake.blocks_probe(run, "b")
    hall.lanes.seat_probe(run, "a")
    hall.lanes.done(run)
    assert hall.asks("r3", state="unknown") == 0
    hall.woken.clear()
    hall.lanes.ended(("r2", "a", 0))
    assert hall.woken == ["r2"]  # it was the first to find no room


def test_where_there_is_one_place_undos_go_before_those_that_wait() -> None:
    hall = Hall(at_provider=1)
    assert hall.asks("r1") == 1
    assert hall.asks("r2") == 0
    assert hall.asks("u1", UNDO) == 0
    assert hall.ends("r1") == ["u1"]
    assert hall.asks("r2") == 0
    assert hall.asks("u1", UNDO) == 1
    assert hall.ends("u1") == ["r2"]


def test_a_run_with_many_items_takes_turns_with_others() -> None:
    hall = Hall(limits={"s1": 3})
    assert hall.asks("many", times=10) == 2
    assert hall.asks("r1") == 0
    assert hall.ends("many") == ["many"]
    assert hall.asks("many", times=8) == 1
    assert hall.ends("many") == ["r1"]
    assert hall.asks("r1") == 1


def test_a_run_that_waits_at_one_limit_keeps_nobody_from_another() -> None:
    hall = Hall(limits={"s1": 2}, at_provider=10)
    assert [hall.asks("r1"), hall.asks("r2")] == [1, 0]
    run = hall.run("other")
    assert not hall.brake.blocks(run, _due(run, 1))  # s2, at the same provider


def test_calls_that_are_not_made_give_their_places_back() -> None:
    hall = Hall(limits={"s1": 2})
    assert [hall.asks("r1"), hall.asks("r2")] == [1, 0]
    hall.lanes.unmade(hall.run("r1"))
    assert hall.woken == ["r2"]
    assert hall.asks("r2") == 1


def test_plain_functions_never_take_the_last_thread() -> None:
    hall = Hall(threads=3, threaded=["s1"])
    assert [hall.asks(f"r{number}") for number in range(3)] == [1, 1, 0]
    run = hall.run("r9")
    assert not hall.brake.blocks(run, _due(run, 1))  # s2 is async


def test_a_limit_is_never_exceeded_and_everybody_gets_through(world: World) -> None:
    world.of(exclusive=False, limits={"s1": 3}, names=["s1"])
    for number in range(25):
        begin(world, f"r{number:02}", s1="wait:0.02 land" if number % 5 else "wait:0.02 land drop")
    world.run_until_idle()
    assert {run.outcome for run in world.client.runs()} == {"completed"}
    assert most_at_once(world.ledger.lines(name="s1")) == 2
    first = [line["run_id"] for line in world.ledger.calls("s1", attempt=1)]
    # The oldest first; which of the two that are let in together is seen first, nobody says.
    assert all(abs(place - int(run_id[1:])) <= 1 for place, run_id in enumerate(first)), first


def test_a_saturated_provider_still_undoes_and_answers(world: World) -> None:
    """Fifty runs wait at it; one of those under way is cancelled, another has lost its answer."""
    world.of(exclusive=False, at_provider=4, names=["s1", "s2"], timeout=60.0)
    begin(world, "done", s2="hold:two land")
    begin(world, "lost", s1="hold:one land drop")
    begin(world, "busy", s1="hold:gate land")

    async def main() -> None:
        async with running(world) as orchestrator:
            await until_then(lambda: len(world.ledger.lines("held")) == 3, "three are held there")
            for number in range(50):
                begin(world, f"w{number}", s1="hold:gate land")
            await until_then(lambda: len(orchestrator._now()._runner.runs) == 53, "they wait")
            await looks(orchestrator)
            assert len(world.ledger.calls("s1")) == 3
            assert {world.show(f"w{n}").steps[0].state for n in range(50)} == {"waiting"}

            world.ledger.open("one")
            await until_then(lambda: world.ledger.lines("ask"), "the lost one is asked about")
            world.client.cancel("done", reason="enough")
            world.ledger.open("two")
            await until_then(lambda: world.show("done").phase == "ended", "it is undone")
            assert not world.ledger.lines("end", run_id="busy")
            world.ledger.open("gate")
            ended = "SELECT count(*) FROM runs WHERE phase = 'ended'"
            await until_then(lambda: world.query(ended) == [(53,)], "all have ended")

    asyncio.run(main())
    assert most_at_once(world.ledger.lines()) <= 4
    assert world.ledger.order("done") == ["s1", "s2", "undo s2", "undo s1"]


@pytest.mark.parametrize("dead", [False, True])
def test_nothing_is_recorded_before_there_is_room(world: World, *, dead: bool) -> None:
    """So what waits burns no time, and after a crash it is known that it never left."""
    world.of(exclusive=False, limits={"s1": 1}, names=["s1"], timeout=60.0)
    begin(world, "r1", s1=["hold:gate land", "land"])
    begin(world, "r2")
    worker = world.orchestrator(lease=30.0)
    world.held("gate")
    assert world.show("r2").steps[0].state == "waiting"
    if dead:
        worker.kill()
        world.run_until_idle()
    else:
        world.ledger.open("gate")
    assert [world.ends(name).outcome for name in ("r1", "r2")] == ["completed", "completed"]
    assert len(world.ledger.calls("s1", run_id="r2")) == 1


def test_new_work_that_fills_the_memory_keeps_no_undo_out(world: World) -> None:
    """All places for runs, and nine more for each, are taken by such as wait for room to call."""
    world.of(exclusive=False, limits={"s1": 2}, names=["s1", "s2"], timeout=60.0)
    begin(world, "old", s2="not_sent:600")
    world.run_until_idle()
    assert world.query("SELECT owner FROM runs WHERE run_id = 'old'") == [(None,)]
    for number in range(44):
        begin(world, f"r{number}", s1="hold:gate land" if number == 0 else "land")

    async def main() -> None:
        async with running(world, runs_at_once=4) as orchestrator:
            await until_then(lambda: world.ledger.lines("held"), "the first one is held")
            await until_then(lambda: len(orchestrator._now()._runner.runs) == 40, "it is full")
            world.client.cancel("old", reason="enough")
            await until_then(lambda: world.show("old").phase == "ended", "it is undone", 20)
            assert not world.ledger.lines("end", name="s1", run_id="r0")
            world.ledger.open("gate")
            ended = "SELECT count(*) FROM runs WHERE phase = 'ended'"
            await until_then(lambda: world.query(ended) == [(45,)], "all have ended")

    asyncio.run(main())
    assert world.ledger.order("old") == ["s1", "undo s1"]
