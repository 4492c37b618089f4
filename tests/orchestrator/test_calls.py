"""Whatever the code of an effect does becomes exactly one result, and the orchestrator lives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from pydantic import BaseModel, field_validator

from saga import (
    Absent,
    App,
    Call,
    Conflict,
    Effect,
    NothingToUndo,
    NotSent,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)
from tests.cases.ledger import Ledger
from tests.cases.scripted import FAST, Plan, Proof
from tests.cases.world import World
from tests.orchestrator.one_step import ERRORS, RESULTS, kinds, one_step, proof


def _raise(name: str) -> NoReturn:
    error = ERRORS[name]()
    raise error


@pytest.mark.parametrize("kind", ["async", "plain"])
@pytest.mark.parametrize("name", list(ERRORS))
def test_whatever_is_raised_is_one_unknown_result(world: World, name: str, kind: str) -> None:
    def plain(call: Call[Plan]) -> Proof:
        _raise(name)

    async def awaited(call: Call[Plan]) -> Proof:
        await asyncio.sleep(0)
        _raise(name)

    app = one_step(world, plain if kind == "plain" else awaited)
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)

    assert kinds(world, *RESULTS) == ["unknown"]
    error = world.show().steps[0].error
    assert error is not None
    assert len("".join([error["type"], error["text"], *error["leaves"]]).encode()) <= 2048
    if name == "many leaves":
        assert len(error["leaves"]) == 8
        return
    assert error["leaves"] == {
        "group": ["ValueError: a", "OSError: b"],
        "group of exits": ["SystemExit: 1", "KeyboardInterrupt: "],
    }.get(name, [])


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Refused("no"), "refused"),
        (LookupError("declared refused"), "refused"),
        (NotSent("no line"), "not_sent"),
        (ConnectionRefusedError("declared not sent"), "not_sent"),
        (Conflict("another body under this key"), "unknown"),
    ],
)
def test_what_is_declared_is_what_it_says(world: World, error: Exception, result: str) -> None:
    async def failing(call: Call[Plan]) -> Proof:
        raise error

    app = one_step(
        world,
        failing,
        refused=[LookupError],
        not_sent=[ConnectionRefusedError],
        retry=Retry(attempts=1),
    )
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)
    assert kinds(world, *RESULTS) == [result]


def test_an_undo_and_a_probe_may_raise_anything_too(world: World) -> None:
    raised: list[str] = []

    async def lost(call: Call[Plan]) -> Proof:
        call.resource(Ledger).land(call)
        raise ConnectionError("lost")

    async def probe(call: Call[Plan]) -> Proof | Absent:
        name = list(ERRORS)[len(raised) % len(ERRORS)]
        raised.append(name)
        if len(raised) > len(ERRORS):
            return proof(call)
        _raise(name)

    async def refusing(call: Call[Plan]) -> Proof:
        raise Refused("no")

    async def undo(call: Undo[Plan, Proof]) -> None:
        raise KeyboardInterrupt

    attempts = len(ERRORS) + 2
    app = one_step(
        world,
        lost,
        undo=undo,
        then=refusing,
        probe=probe,
        retry=Retry(**{**FAST, "first": 0.001, "attempts": attempts}),
    )
    world.client.start(app.sagas[0], {}, run_id="r1")
    world.run_until_idle(app)

    assert len(raised) == len(ERRORS) + 1
    run = world.show()
    assert run.steps[0].state == "landed"
    assert run.steps[0].undo is not None
    assert (run.steps[0].undo.state, len(run.cases)) == ("unknown", 1)


class Fussy(BaseModel):
    """A model whose own code does what the test says."""

    text: str = ""

    @field_validator("text")
    @classmethod
    def _check(cls, text: str) -> str:
        for fuss in _fusses:
            fuss()
        return text


_fusses: list[Callable[[], None]] = []


@pytest.mark.parametrize("name", ["Exception", "SystemExit", "KeyboardInterrupt", "50 MB"])
@pytest.mark.parametrize("when", ["frozen", "called", "returned"])
def test_validators_may_raise_anything_too(world: World, name: str, when: str) -> None:
    """When arguments are frozen: refused. When the call is made: not sent. After it: unknown."""

    def fuss() -> None:
        if when != "called" or world.query("SELECT 1 FROM actions WHERE step = 's2'"):
            _raise(name)

    async def first(call: Call[Fussy]) -> Proof:
        if when == "frozen":
            _fusses.append(fuss)
        return Proof(receipt_id="first", idempotency_key=call.key)

    async def second(call: Call[Fussy]) -> Fussy:
        assert when == "returned"
        made = Fussy()
        _fusses.append(fuss)
        return made

    given, nothing = input_of(Fussy), NothingToUndo("a test")
    steps: list[Step[Any, Any]] = [
        Step("s1", Effect("first", first), args=given, compensation=nothing),
        Step(
            "s2",
            Effect("second", second, retry=Retry(attempts=1)),
            args=given,
            compensation=nothing,
        ),
    ]
    saga = Saga("fussy", given, steps)
    world.client.start(saga, {"text": name}, run_id="r1")
    if when == "called":
        _fusses.append(fuss)
    try:
        world.run_until_idle(App(saga))
    finally:
        _fusses.clear()

    run = world.show()
    assert (run.steps[1].state, run.cause) == {
        "frozen": ("refused", "refused"),
        "called": ("not_sent", "attempts"),
        "returned": ("unknown", None),
    }[when]
    assert run.steps[1].error is not None
