"""Branches that fail while others are in flight, or end together; wide and long ones; sagas within
sagas: C023, C024, C027, C028, C101.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from saga import App, Saga, Step, SubSaga, input_of
from saga.journal.records import RECORD_LIMIT
from tests.cases import scripted
from tests.cases.scripted import Plan
from tests.cases.waiting import until
from tests.cases.world import World

BRANCHES = tuple(f"b{number}" for number in range(20))


def fan(folder: str, names: tuple[str, ...] = BRANCHES) -> App:
    """All at once, then `join`."""
    made = scripted.app(folder, names=(*names, "join"), name="fan")
    (saga,) = made.sagas
    *branches, join = saga.steps
    for step in branches:
        step.after = ()
    join.after = tuple(branches)
    return App(Saga(f"fan-{len(names)}", input_of(Plan), saga.steps), lifespan=made.lifespan)


def family(folder: str) -> App:
    """p1, a child of c1 and c2, then p2."""
    child = scripted.app(folder, names=("c1", "c2"), name="child").sagas[0]
    made = scripted.app(folder, names=("p1", "p2"), name="family")
    first, last = made.sagas[0].steps
    plan = input_of(Plan)
    steps: list[Step[Plan, scripted.Proof] | SubSaga[Plan]] = [
        first,
        SubSaga("child", child, args=plan),
        last,
    ]
    return App(Saga("family", plan, steps), lifespan=made.lifespan)


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_in_flight_when_another_branch_fails_is_settled_and_undone(
    world: World, *, killed: bool
) -> None:
    """C023, kestra-io/kestra#19114, zigflow/zigflow#591."""
    world.build = f"{__name__}:fan"
    world.of(names=("a", "b")).start(a="refuse:no", b="land hold:b")
    worker = world.orchestrator()
    until(lambda: world.show().phase == "compensating" and world.ledger.landed(), "a has failed")
    run = world.show()
    assert {step.name: step.state for step in run.steps} == {
        "a": "refused",
        "b": "sending",
        "join": "waiting",
    }
    if killed:
        worker.kill()
        world.orchestrator()
    world.ledger.open("b")
    ended = world.ends()
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "refused", "a")
    assert ended.steps[1].state == "landed"
    assert ended.steps[1].undo is not None
    assert ended.steps[1].undo.state == "landed"
    fates = {line.step: line.fate for line in ended.settlement}
    assert fates == {"a": "never", "b": "undone", "join": "never"}


@pytest.mark.parametrize("fails", [False, True])
def test_branches_that_end_together_lose_no_result_and_join_once(
    world: World, *, fails: bool
) -> None:
    """C024, yontrack/yontrack#1422, Netflix/conductor#871: with two orchestrators, a few rounds."""
    world.build = f"{__name__}:fan"
    for _ in range(2):
        world.orchestrator()
    for number in range(6):
        chosen = random.Random(number)
        failing = set(chosen.sample(BRANCHES, 10)) if fails else set()
        acts = {name: f"wait:0.3 {'refuse:no' if name in failing else 'land'}" for name in BRANCHES}
        world.start(f"r{number}", **acts)
        run = world.ends(f"r{number}")
        states = Counter(step.state for step in run.steps[:-1])
        if fails:
            assert states == Counter(landed=10, refused=10)
            assert (run.outcome, run.steps[-1].state) == ("compensated", "waiting")
            assert {one.step for one in run.failures} == failing
            assert run.failures[0].step == run.cause_step
        else:
            assert (states, run.outcome) == (Counter(landed=20), "completed")
            assert run.steps[-1].attempts == 1
        kinds = Counter(
            event["kind"]
            for record in world.client.journal(f"r{number}")
            for event in record.events
        )
        assert kinds["winding_down"] == fails
        assert kinds["ended"] == 1
        texts = [step.error["text"] for step in run.steps if step.error]
        assert all(text == "no" for text in texts)


def test_a_child_that_has_ended_is_undone_when_its_parent_fails_later(world: World) -> None:
    """C027, discovery-ukraine/saga-lara-flow#22."""
    world.build = f"{__name__}:family"
    world.start(p2="refuse:no")
    world.orchestrator()
    run = world.ends()
    assert (run.outcome, run.cause_step) == ("compensated", "p2")
    done = [entry["step"] for entry in world.ledger.landed() if entry["of_key"] is None]
    undone = [entry["step"] for entry in world.ledger.landed() if entry["of_key"] is not None]
    assert done == ["p1", "child.c1", "child.c2"]
    assert undone == ["child.c2", "child.c1", "p1"]


def test_when_the_parent_ends_no_child_is_left_behind(world: World) -> None:
    """C028, dapr/dapr#6454, StackStorm/orquesta#212: cancelled while the child runs, and its
    orchestrator killed at the child's end.
    """
    world.build = f"{__name__}:family"
    world.start(**{"child.c2": "land hold:child"})
    worker = world.orchestrator()
    until(lambda: len(world.ledger.landed()) == 3, "the child's last step has landed")
    world.client.cancel("r1", reason="no more")
    worker.kill()
    assert world.show().phase == "compensating"
    world.ledger.open("child")
    world.orchestrator()
    run = world.ends()
    assert (run.outcome, run.cause) == ("compensated", "cancelled")
    assert [line.fate for line in run.settlement] == ["undone", "undone", "undone", "never"]


@pytest.mark.parametrize("fails", [False, True])
def test_each_step_of_a_wide_fan_costs_the_same(world: World, *, fails: bool) -> None:
    """C101, Azure/azure-functions-durable-js#221, vercel/workflow#1315: rows and stored bytes.

    600 intents, or undos, that are due at once do not fit one record.
    """
    world.build = f"{__name__}:fan"
    cost = {}
    for width in (150, 600):
        world.of(names=tuple(f"b{number}" for number in range(width)))
        world.start(f"r{width}", **({"join": "refuse:no"} if fails else {}))
        world.run_until_idle()
        run = world.show(f"r{width}")
        assert run.outcome == ("compensated" if fails else "completed"), run.cause_error
        ((records, size, longest),) = world.query(
            "SELECT count(*), sum(length(body)), max(length(body)) FROM journal WHERE run_id = ?",
            run.id,
        )
        assert longest <= RECORD_LIMIT
        assert records <= width + 10
        cost[width] = size / width
    assert 0.9 < cost[600] / cost[150] < 1.1


def test_a_wide_fan_survives_its_orchestrator(world: World) -> None:
    """C101, with kill -9 while hundreds of calls are out."""
    world.build = f"{__name__}:fan"
    names = tuple(f"b{number}" for number in range(300))
    world.of(names=names).start(**dict.fromkeys(names, "land hold:gate"))
    worker = world.orchestrator(lease=15)  # this outside keeps the loop for seconds in all
    until(lambda: len(world.ledger.landed()) == 300, "all have landed")
    worker.kill()
    world.ledger.open("gate")
    world.orchestrator(lease=15)
    assert world.ends().outcome == "completed"
    assert len(world.ledger.landed()) == 301


def test_large_arguments_of_branches_are_split_over_records(world: World) -> None:
    """C101 by bytes: six at once, each with more than a third of what a record may have."""
    world.build = f"{__name__}:fan"
    world.of(names=tuple(f"b{number}" for number in range(6)))
    world.start(nobody="land " * 20_000)
    world.run_until_idle()
    assert world.show().outcome == "completed"
