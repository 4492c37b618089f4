"""How often, and what is said about it: C011, C012, C013, C016."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from saga import (
    App,
    Call,
    Compensation,
    Conflict,
    Effect,
    NotSent,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)
from tests.cases.ledger import Ledger
from tests.cases.scripted import FAST, Plan, Proof, act, lifespan, take_back
from tests.cases.waiting import until
from tests.cases.world import World


def test_forward_and_undo_attempts_are_counted_apart(world: World) -> None:
    """C011, MassTransit/MassTransit#4676: five attempts that fail, an undo that needs four."""
    world.of(retry={"attempts": 5}, undo_retry={"attempts": 4})
    world.start(s2="not_sent", undo_s1=["not_sent"] * 3 + ["land"])
    world.run_until_idle()

    run = world.show()
    assert (run.outcome, run.cause, run.cases) == ("compensated", "attempts", ())
    assert len(world.ledger.calls("s2")) == run.steps[1].attempts == 5
    assert run.steps[0].undo is not None
    assert len(world.ledger.calls("undo s1")) == run.steps[0].undo.attempts == 4


@pytest.mark.parametrize("loose", [False, True])
def test_a_hopeless_undo_stops_at_its_limit_and_is_handed_over_once(
    world: World, *, loose: bool
) -> None:
    """C012, apache/incubator-seata#5077: killed between attempts 1 and 2, then two workers.

    The state of s1 is the step's to say: it waits for s2 (`hold`), or is undone.
    """
    world.of(undo_retry={"attempts": 3, "first": 1.5}, loose=["s2"] if loose else [])
    world.start(s3="refuse:no", undo_s2="not_sent")
    first = world.orchestrator()
    until(lambda: (u := world.show().steps[1].undo) and u.state == "not_sent", "attempt 1 failed")
    first.kill()
    assert len(world.ledger.calls("undo s2")) == 1
    pair = [world.orchestrator(), world.orchestrator()]
    (case_id,) = world.rests().cases
    world.run_until_idle()  # a third one, and one more restart
    pair[0].kill()
    world.run_until_idle()

    assert len(world.ledger.calls("undo s2")) == 3
    (case,) = world.client.cases(None)
    assert (case.id, case.kind, case.step) == (case_id, "undo_exhausted", "s2")
    assert case.error is not None
    assert case.error["text"] == "nobody answered"
    undo = world.show().steps[0].undo
    assert undo is not None
    assert undo.state == ("landed" if loose else "waiting")
    assert world.ledger.order()[2:] == (["undo s1"] if loose else [])


class CardDeclined(Exception):
    """A refusal with a code, as a client library raises it."""

    def __init__(self, code: str) -> None:
        super().__init__(f"card declined: {code}")
        self.code = code


async def _declined(call: Call[Plan]) -> Proof:
    raise CardDeclined("insufficient_funds")


async def _stumbling(call: Undo[Plan, Proof]) -> BaseModel:
    if call.attempt < 3:
        raise NotSent(f"passing error {call.attempt}")
    call.resource(Ledger).land(call)
    return Proof(receipt_id="done", idempotency_key=call.key)


def test_the_first_cause_survives_the_clean_up(world: World) -> None:
    """C013, apache/incubator-seata#2839, conductor-oss/conductor#513.

    Left for later: the page. The command line prints the same object.
    """
    plan = input_of(Plan)
    stumbling = Compensation("stumbling", _stumbling, retry=Retry(**FAST))
    steps = [
        Step("s1", Effect("do", act), args=plan, compensation=Compensation("undo", take_back)),
        Step("s2", Effect("do", act), args=plan, compensation=stumbling),
        Step(
            "s3",
            Effect("pay", _declined, refused=[CardDeclined]),
            args=plan,
            compensation=Compensation("undo", take_back),
        ),
    ]
    saga = Saga("paid", plan, steps)
    world.client.start(saga, {}, run_id="r1")
    world.run_until_idle(app=App(saga, lifespan=lifespan(str(world.folder))))

    run = world.show()
    assert (run.outcome, run.cause, run.cause_step) == ("compensated", "refused", "s3")
    assert run.cause_error is not None
    assert run.cause_error["type"].endswith("CardDeclined")
    assert run.cause_error["text"] == "card declined: insufficient_funds"
    undos = [step.undo for step in run.steps]
    assert [undo and (undo.state, undo.attempts, undo.error) for undo in undos] == [
        ("landed", 1, None),
        ("landed", 3, None),
        None,
    ]
    assert run in world.client.runs()
    bodies = "".join(body for (body,) in world.query("SELECT body FROM journal"))
    assert "passing error 1" in bodies  # in the history, and nowhere else
    assert "passing error" not in str(run)


def test_giving_up_twice_does_not_make_two_open_cases(world: World) -> None:
    """C016, mafintosh/sqs#41, icastanon/fintrack-platform#7: three rounds, one of them twice."""
    world.of(undo_retry={"attempts": 2})
    world.start(s3="refuse:no", undo_s1="not_sent")
    world.orchestrator()
    world.orchestrator()
    watched, most = threading.Event(), [0]

    def watch() -> None:
        last = False
        while not last:  # the last look is at the end, when there surely is one
            last = watched.wait(0.002)
            ((now,),) = world.query("SELECT count(*) FROM cases WHERE state = 'open'")
            most[0] = max(most[0], now)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for round_ in range(3):
            (case,) = until(world.client.cases, f"a case, round {round_}")
            world.client.resolve(case.id, "retry", reason="they say it works", actor=f"p{round_}")
            if round_ == 1:
                with pytest.raises(Conflict):
                    world.client.resolve(case.id, "retry", reason="again", actor="impatient")
            until(_closed(world, case.id), "the verdict is taken")
        (last,) = until(world.client.cases, "the last case")
    finally:
        watched.set()
        watcher.join()

    assert most[0] == 1
    assert len(world.ledger.calls("undo s1")) == 4 * 2
    cases = world.client.cases(None)
    assert [case.actor for case in cases] == ["p0", "p1", "p2", None]
    assert cases[-1].id == last.id


def _closed(world: World, case: str) -> Callable[[], bool]:
    return lambda: case not in world.show().cases
