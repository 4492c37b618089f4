"""A saga of one step with a function of the test, and what is on record of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from saga import (
    App,
    Call,
    Compensation,
    Effect,
    NothingToUndo,
    Retry,
    Saga,
    Step,
    Undo,
    Unknown,
    input_of,
)
from tests.cases.ledger import Ledger
from tests.cases.scripted import FAST, Plan, Proof, lifespan
from tests.cases.world import World

__all__ = ["ERRORS", "RESULTS", "events_of", "kinds", "one_step", "proof"]


class _BadText(Exception):
    def __str__(self) -> str:
        raise SystemExit("in __str__")


class _BadName(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("in __repr__")


ERRORS: dict[str, Callable[[], BaseException]] = {
    "Exception": lambda: Exception("x"),
    "BaseException": lambda: BaseException("x"),
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt,
    "GeneratorExit": GeneratorExit,
    "CancelledError": lambda: asyncio.CancelledError("my own"),
    "TimeoutError": lambda: TimeoutError("my own"),
    "text that raises": _BadText,
    "repr that raises": lambda: _BadName("x"),
    "50 MB": lambda: ValueError("é" * 25_000_000),
    "50 MB of four bytes each": lambda: ValueError("\U0001f600" * 12_500_000),
    "many leaves": lambda: ExceptionGroup("é" * 9000, [ValueError("é" * 99)] * 50),
    "group": lambda: ExceptionGroup("g", [ExceptionGroup("h", [ValueError("a")]), OSError("b")]),
    "group of exits": lambda: BaseExceptionGroup("g", [SystemExit(1), KeyboardInterrupt()]),
    "not an error": lambda: Warning("x"),
    "said so": lambda: Unknown("said so"),
}


RESULTS = ("landed", "refused", "not_sent", "unknown")


def one_step(
    world: World,
    function: Callable[[Call[Plan]], Any],
    *,
    undo: Callable[[Undo[Plan, Proof]], Any] | None = None,
    then: Callable[[Call[Plan]], Any] | None = None,
    **tuning: Any,
) -> App:
    """A saga of `function`, and of `then` after it, as an app."""
    plan = input_of(Plan)
    effect = Effect("do", function, args=Plan, receipt=Proof, **tuning)
    steps: list[Step[Any, Any]] = [Step("s1", effect, args=plan, compensation=_compensation(undo))]
    if then is not None:
        after = Effect("then", then, args=Plan, receipt=Proof)
        steps.append(Step("s2", after, args=plan, compensation=NothingToUndo("a test")))
    return App(Saga("one", plan, steps), lifespan=lifespan(str(world.folder)))


def _compensation(undo: Callable[[Undo[Plan, Proof]], Any] | None) -> Any:
    if undo is None:
        return NothingToUndo("a test")
    return Compensation("undo", undo, args=Plan, receipt=Proof, retry=Retry(**FAST))


def proof(call: Call[Plan]) -> Proof:
    """It landed, and this is the receipt."""
    return Proof(receipt_id=call.resource(Ledger).land(call), idempotency_key=call.key)


def events_of(world: World, run_id: str = "r1") -> list[dict[str, Any]]:
    """Everything on record, in order."""
    rows = world.query("SELECT body FROM journal WHERE run_id = ? ORDER BY seq", run_id)
    return [event for (body,) in rows for event in json.loads(body)["events"]]


def kinds(world: World, *names: str) -> list[str]:
    """The kinds of events on record, of these kinds only."""
    return [event["kind"] for event in events_of(world) if event["kind"] in names]
