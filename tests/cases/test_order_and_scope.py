"""In which order a run is undone, and how far: C001, C002, C004."""

from __future__ import annotations

import pytest

from saga import Compensation, DefinitionError, Effect, NothingToUndo, Step, input_of
from tests.cases.ledger import overlapping
from tests.cases.scripted import Plan, act, take_back
from tests.cases.waiting import until
from tests.cases.world import World

FIVE = ("s1", "s2", "s3", "s4", "s5")


def test_undo_runs_strictly_backwards_one_at_a_time(world: World) -> None:
    """C001, danielgerlag/workflow-core#191, Courtsite/temporal-go-helpers#3: a plain run."""
    world.of(names=FIVE).start(s5="refuse:no", undo_s3="wait:0.2 land")
    world.run_until_idle()

    run = world.show()
    assert (run.phase, run.outcome, run.cause, run.cause_step) == (
        "ended", "compensated", "refused", "s5"
    )  # fmt: skip
    assert world.ledger.order() == [*FIVE[:4], "undo s4", "undo s3", "undo s2", "undo s1"]
    assert overlapping(world.ledger.lines()) == []
    # The rule: what was refused has no undo, since nothing of it is there.
    assert run.steps[4].undo is None


def test_after_a_kill_undoing_goes_on_where_it_was(world: World) -> None:
    """C001, second run: SIGKILL right after the undo of s4 was recorded."""
    world.of(names=FIVE).start(s5="refuse:no", undo_s3=["wait:30", "wait:0.1 land"])
    first = world.orchestrator()
    until(lambda: (u := world.show().steps[3].undo) and u.state == "landed", "s4 is undone")
    first.kill()
    assert world.show().phase == "compensating"
    world.orchestrator()

    run = world.ends()
    assert run.outcome == "compensated"
    assert world.ledger.order()[4:] == ["undo s4", "undo s3", "undo s2", "undo s1"]
    assert len(world.ledger.calls("undo s4")) == 1
    assert run.steps[4].undo is None
    ended = world.query("SELECT ended_at FROM runs")[0][0]
    assert ended >= world.ledger.landed("undo s1")[0]["at"]


def test_a_step_without_a_way_back_is_refused_when_it_is_defined() -> None:
    """C002 (a), eventuate-tram/eventuate-tram-sagas#9: there is no undo that nobody implements."""
    plan, effect = input_of(Plan), Effect("do", act)
    with pytest.raises(DefinitionError, match="does not say how it is taken back") as refused:
        Step("s2", effect, args=plan)  # type: ignore[call-arg]
    assert refused.value.code == "no-compensation"
    with pytest.raises(DefinitionError):
        Step("s2", effect, args=plan, compensation="undo_s2")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError):
        Compensation("undo", None)  # type: ignore[arg-type]
    assert Step("s2", effect, args=plan, compensation=Compensation("undo", take_back)).undo
    assert Step("s2", effect, args=plan, compensation=NothingToUndo("reads only")).undo is None


def test_a_step_with_nothing_to_undo_is_passed_and_the_ones_before_it_are_undone(
    world: World,
) -> None:
    """C002 (b), eventuate-tram/eventuate-tram-sagas#9."""
    world.of(nothing=["s2"]).start(s3="refuse:no")
    world.run_until_idle()

    run = world.show()
    assert run.outcome == "compensated"
    assert world.ledger.order() == ["s1", "s2", "undo s1"]
    assert run.steps[1].state == "landed"
    assert run.steps[1].undo is None


def test_an_undo_that_is_stuck_is_a_case_and_never_silence(world: World) -> None:
    """C002, the never: what does not go on has a due time or an open case."""
    world.start(s3="refuse:no", undo_s2="refuse:not any more")
    world.run_until_idle()
    world.run_until_idle()

    run = world.show()
    assert run.phase == "compensating"
    (case,) = world.client.cases()
    assert (case.step, case.direction, case.kind) == ("s2", "undo", "undo_refused")
    assert world.ledger.order() == ["s1", "s2"]  # s1 waits behind it
    assert len(world.ledger.calls("undo s2")) == 1


@pytest.mark.parametrize("way", ["refused", "attempts", "cancelled", "deadline"])
def test_every_way_of_ending_a_run_undoes_what_was_done(world: World, way: str) -> None:
    """C004, conductor-oss/conductor#16, apache/servicecomb-pack#219, restatedev/restate#401.

    Two steps are done, the third waits. There is no forced stop. Left for later: a refused and an
    expired approval (approvals are not built yet).
    """
    world.of(retry={"attempts": 2}, deadline=0.3 if way == "deadline" else None)
    third = {"refused": "refuse:no", "attempts": "not_sent"}.get(way, "not_sent:600")
    world.start(s3=third)
    world.run_until_idle()
    if way == "cancelled":
        assert world.show().phase == "running"
        world.client.cancel("r1", reason="not wanted any more")
        world.run_until_idle()

    run = world.ends(within=0) if way != "deadline" else _after_its_deadline(world)
    assert (run.outcome, run.cause) == ("compensated", way)
    assert world.ledger.net() == []
    assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]


def _after_its_deadline(world: World):  # type: ignore[no-untyped-def]
    world.run_until_idle()
    return world.show()


def test_two_undos_that_a_person_sends_again_need_not_wait_for_each_other(world: World) -> None:
    """The first time one was passed since it does not hold; its case is closed when both go on."""
    world.of(loose=["s2"])
    world.start(s3="refuse:no", undo_s1="refuse:no", undo_s2="refuse:no")
    world.run_until_idle()
    for case in world.client.cases():
        world.client.resolve(case.id, "retry", reason="they say that it works now")
    world.run_until_idle()
    assert len(world.ledger.calls("undo s1")) == len(world.ledger.calls("undo s2")) == 2
