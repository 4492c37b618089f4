"""What Python lets a function do: C081, C082."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from saga import (
    App,
    Call,
    Effect,
    NothingToUndo,
    Saga,
    Step,
    input_of,
)
from tests.cases.ledger import Ledger
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.processes import orchestrate
from tests.cases.scripted import Plan, Proof, lifespan
from tests.cases.world import World


def _raises(error: BaseException) -> Callable[[Call[Given]], Any]:
    def raising(call: Call[Given]) -> Any:
        if call.run_id == "healthy":
            return Anything()
        raise error

    return raising


def _exits(call: Call[Given]) -> Any:
    return Anything() if call.run_id == "healthy" else sys.exit("enough")


HAZARDS: dict[str, Callable[[Call[Given]], Any]] = {
    "SystemExit": _raises(SystemExit(3)),
    "sys.exit": _exits,
    "KeyboardInterrupt": _raises(KeyboardInterrupt()),
    "CancelledError": _raises(asyncio.CancelledError("my own")),
    "GeneratorExit": _raises(GeneratorExit()),
    "BaseException": _raises(BaseException("whatever")),
    "StopIteration": _raises(StopIteration(1)),
    "StopAsyncIteration": _raises(StopAsyncIteration()),
    "RecursionError": _raises(RecursionError()),
    "MemoryError": _raises(MemoryError()),
}


@pytest.mark.parametrize("kind", ["async", "plain"])
@pytest.mark.parametrize("hazard", list(HAZARDS))
def test_an_exit_raised_by_a_step_is_unknown_and_the_orchestrator_lives(
    world: World, hazard: str, kind: str
) -> None:
    """C081, celery/celery#10667, celery/billiard#457, celery/celery#1285, jd/tenacity#529, #186.

    The one class for all of them: nobody declared it, so it is unknown, and it is not retried.
    """
    app = returning(str(world.folder), HAZARDS[hazard], threaded=kind == "plain")
    for run_id in ("r1", "healthy"):
        world.client.start(app.sagas[0], {}, run_id=run_id)
    world.run_until_idle(app, debug=True)

    run = world.show()
    assert (run.phase, run.steps[0].state, run.steps[0].attempts) == ("running", "unknown", 1)
    assert len(world.ledger.calls("s1", run_id="r1")) == 1
    (case,) = world.client.cases()
    assert case.error is not None
    assert hazard.replace("sys.exit", "SystemExit") in case.error["type"] + case.error["text"]
    assert world.show("healthy").outcome == "completed"


@pytest.mark.parametrize(
    ("number", "handled"),
    [(signal.SIGTERM, True), (signal.SIGINT, True), (signal.SIGINT, False)],
    ids=["SIGTERM", "SIGINT", "SIGINT without a handler"],
)
def test_an_exit_caused_by_a_signal_is_no_failure_of_the_step(
    world: World, number: signal.Signals, *, handled: bool
) -> None:
    """C081, last: what was in flight is unknown, and picked up again under the same key."""
    world.of(provider="both", names=["s1"]).start(s1=["hold:never", "land"])
    options = {"lease": 2.0, "poll": 0.05, "grace": 0.3}
    worker = world.process(
        orchestrate,
        world.url,
        world.build,
        world.config,
        options,
        (signal.SIGTERM, signal.SIGINT) if handled else (signal.SIGTERM,),
    )
    world.held("never")
    worker.send(number)
    assert worker.ended() == (0 if handled else 1)
    run = world.show()
    assert (run.phase, run.steps[0].state, run.cases) == ("running", "unknown", ())
    world.run_until_idle()

    run = world.show()
    assert (run.outcome, run.steps[0].attempts) == ("completed", 2)
    assert len({call["key"] for call in world.ledger.calls("s1")}) == 1


_seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="nothing")


async def _async_context(call: Call[Plan]) -> Proof:
    return await _context(call, pause=lambda: asyncio.sleep(0.01))


def _plain_context(call: Call[Plan]) -> Proof:
    before = _seen.get()
    _seen.set(call.run_id)
    time.sleep(0.01)
    call.resource(Ledger).called(call, "context", before=before, after=_seen.get())
    return Proof(receipt_id="x", idempotency_key=call.key)


async def _context(call: Call[Plan], pause: Callable[[], Any]) -> Proof:
    before = _seen.get()
    _seen.set(call.run_id)
    await pause()
    call.resource(Ledger).called(call, "context", before=before, after=_seen.get())
    return Proof(receipt_id="x", idempotency_key=call.key)


def test_context_variables_come_from_the_start_up_and_leak_nowhere(world: World) -> None:
    """C082, taskiq-python/taskiq#482, mlflow/mlflow#24422: 10 plain and 10 async runs at once.

    Every call runs in a copy of the context in which the orchestrator was entered.
    """
    plan, nothing = input_of(Plan), NothingToUndo("it only looks")

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[object]]:
        _seen.set("start-up")
        async with lifespan(str(world.folder))() as resources:
            yield resources

    sagas = [
        Saga(
            kind,
            plan,
            [
                Step(name, Effect(kind, function), args=plan, compensation=nothing)
                for name in ("s1", "s2")
            ],
        )
        for kind, function in (("async", _async_context), ("plain", _plain_context))
    ]
    for saga in sagas:
        for number in range(10):
            world.client.start(saga, {}, run_id=f"{saga.name}{number}")
    world.run_until_idle(App(*sagas, lifespan=opened), threads=3)

    assert {run.outcome for run in world.client.runs()} == {"completed"}
    lines = world.ledger.lines("context")
    assert len(lines) == 40
    assert {line["before"] for line in lines} == {"start-up"}
    assert all(line["after"] == line["run_id"] for line in lines)
    assert _seen.get() == "nothing"


def test_log_lines_name_the_run(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """C082, the log: one line per case, with its run and step."""
    caplog.set_level(logging.INFO)
    world.of(provider="neither", probe=False)
    for number in range(5):
        world.start(f"r{number}", s1="drop")
    world.run_until_idle()
    lines = [record.getMessage() for record in caplog.records if "case" in record.getMessage()]
    assert len(lines) == 5
    for number in range(5):
        (line,) = [one for one in lines if f"run r{number}: case r{number}/1 opened" in one]
        assert "s1 (chain.s1@1)" in line
