"""What an undo is given, and what an unknown outcome becomes: C005, C006, C007."""

from __future__ import annotations

import json
import time

import pytest

from saga.definition.canonical import canonical
from tests.cases.nested_receipts import GIVEN, RECEIPT
from tests.cases.waiting import until
from tests.cases.world import World


def test_an_undo_gets_the_receipt_of_its_own_step_unchanged_in_another_process(
    world: World,
) -> None:
    """C005, MassTransit/MassTransit#3942, cdddg/py-saga-orchestration#1, PrefectHQ/prefect#15599.

    The undo of s2 also gets the input and the receipt of s1: bound into the arguments of s2.
    """
    world.build = "tests.cases.nested_receipts:app"
    world.client.start(world.app.sagas[0], GIVEN, run_id="r1")
    first = world.orchestrator()
    until(lambda: world.show().steps[2].state == "not_sent", "s3 waits for its next attempt")
    first.terminate()
    assert first.ended() == 0
    world.orchestrator()

    assert world.ends().outcome == "compensated"
    given = {line["name"]: line["text"] for line in world.ledger.lines("given")}
    assert given == {
        "undo s2": canonical(
            {"args": {"order": GIVEN, "before": RECEIPT}, "receipt": {"count": 2}}
        ),
        "undo s1": canonical({"args": GIVEN, "receipt": RECEIPT}),
    }
    assert len({line["pid"] for line in world.ledger.lines("landed")}) == 2


@pytest.mark.parametrize("provider", ["keys", "asked", "both"])
def test_an_unknown_outcome_is_found_out_and_taken_as_done(world: World, provider: str) -> None:
    """C006 A, dtm-labs/dtm#272: asked by key, or repeated under the same key."""
    world.of(provider=provider, probe=provider != "keys").start(s1=["land drop", "land"])
    world.run_until_idle()

    assert world.show().outcome == "completed"
    assert world.ledger.order() == ["s1", "s2", "s3"]
    assert len({line["key"] for line in world.ledger.calls("s1")}) == 1
    assert len(world.ledger.calls("s1")) == (2 if provider == "keys" else 1)


def test_an_unknown_outcome_in_a_run_that_winds_down_is_found_out_and_undone(world: World) -> None:
    """C006 A, dtm-labs/dtm#272: the branch that was forgotten there is undone here."""
    world.of(provider="asked", timeouts={"s2": 0.3}).start(s2="land wait:30")
    world.orchestrator()
    world.called("s2")
    world.client.cancel("r1", reason="not wanted any more")

    assert world.ends().outcome == "compensated"
    assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]
    assert len(world.ledger.calls("s2")) == 1


def test_where_nobody_can_say_a_person_is_asked(world: World) -> None:
    """C006 B, btravstack/temporal-contract#413: neither undone nor repeated on a guess."""
    world.of(provider="neither", probe=False, retry={"attempts": 3}).start(s1="land drop")
    world.run_until_idle()

    run = world.show()
    assert (run.phase, run.outcome, run.steps[0].state) == ("running", None, "unknown")
    (case,) = world.client.cases()
    assert (case.step, case.kind) == ("s1", "unknown")
    assert "ConnectionError: the answer was lost" in case.text
    assert 'add probe=... to "chain.s1"' in case.text
    assert len(world.ledger.calls("s1")) == 1
    assert world.ledger.order() == ["s1"]


@pytest.mark.parametrize("ended_by", ["cancelled", "deadline"])
@pytest.mark.parametrize("provider", ["keys", "asked", "neither"])
def test_the_wish_to_undo_is_on_record_before_the_action_starts(
    world: World, ended_by: str, provider: str
) -> None:
    """C007, temporalio/skill-temporal-developer#43: killed between the effect and its record.

    With nobody alive the run is cancelled, or its deadline passes. s1 counts as "maybe done".
    """
    deadline = 0.8 if ended_by == "deadline" else None
    world.of(provider=provider, probe=provider == "asked", deadline=deadline)
    started = world.start(s1=["land die", "land"])
    worker = world.orchestrator()
    assert worker.ended() < 0
    if ended_by == "cancelled":
        world.client.cancel("r1", reason="not wanted any more")
    else:
        over = started.started_at.timestamp() + 0.8
        until(lambda: time.time() > over, "the deadline has passed")
    world.run_until_idle()

    _intent_stood_before_the_call(world)
    run = world.show()
    if provider == "neither":
        (case,) = world.client.cases()
        assert (run.outcome, case.step, case.kind) == (None, "s1", "unknown")
        assert world.ledger.order() == ["s1"]
    else:
        assert (run.outcome, run.cause) == ("compensated", ended_by)
        assert world.ledger.order() == ["s1", "undo s1"]
    assert len({line["key"] for line in world.ledger.calls("s1")}) == 1


def _intent_stood_before_the_call(world: World) -> None:
    (first,) = world.query("SELECT at, body FROM journal WHERE seq = 2")
    events = {event["kind"]: event for event in json.loads(first[1])["events"]}
    call = world.ledger.calls("s1")[0]
    assert first[0] <= call["at"]
    assert events["intended"]["key"] == events["sending"]["key"] == call["key"]
    assert events["intended"]["undo_key"].startswith(call["key"])
