"""Functions of every kind, and what they return: C086."""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from saga import (
    App,
    Call,
    Compensation,
    DefinitionError,
    Effect,
    Saga,
    Step,
    Undo,
    input_of,
)
from tests.cases.ledger import Ledger
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.scripted import lifespan
from tests.cases.waiting import until
from tests.cases.world import World


def _generator(call: Call[Given]) -> Iterator[Anything]:
    yield Anything()


async def _async_generator(call: Call[Given]) -> AsyncIterator[Anything]:
    yield Anything()


@pytest.mark.parametrize("function", [_generator, _async_generator, Anything, "text", None])
def test_what_cannot_be_a_function_of_an_effect_is_refused_when_it_is_defined(
    function: Any,
) -> None:
    """C086, omnigent-ai/omnigent#1117, modal-labs/synchronicity#26."""
    with pytest.raises(DefinitionError) as refused:
        Effect("odd", function, args=Given, receipt=Anything)
    assert refused.value.code == "bad-function"


def _landed(text: str, call: Call[Given]) -> Anything:
    call.resource(Ledger).land(call)
    return Anything(text=text)


class _Callable:
    def __call__(self, call: Call[Given]) -> Anything:
        return _landed("object", call)


class _AsyncCallable:
    async def __call__(self, call: Call[Given]) -> Anything:
        return _landed("async object", call)


async def _late(text: str, call: Call[Given]) -> Anything:
    return _landed(text, call)


FUNCTIONS: dict[str, Any] = {
    "partial": functools.partial(_late, "partial"),
    "object": _Callable(),
    "async object": _AsyncCallable(),
    "lambda": lambda call: _landed("lambda", call),
    "a plain function that returns a coroutine": lambda call: _late("coroutine", call),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_everything_that_can_be_called_may_be_an_effect(world: World, name: str) -> None:
    """C086: with asyncio's debug mode on and every warning an error."""
    run = _run_one(world, Effect("any", FUNCTIONS[name], args=Given, receipt=Anything))
    assert run.outcome == "completed"
    assert run.steps[0].receipt["text"] in name


async def _forgets_to_await(call: Call[Given]) -> Any:
    return _late("never awaited", call)


def _opens(call: Call[Given]) -> Any:
    return (Path(call.args.text) / "opened").open("w")


def _iterates(call: Call[Given]) -> Any:
    return _generator(call)


ANSWERS: dict[str, tuple[Any, str]] = {
    "coroutine": (_forgets_to_await, "coroutine"),
    "open file": (_opens, "TextIOWrapper"),
    "lock": (lambda call: threading.Lock(), "lock"),
    "itself": (lambda call: FUNCTIONS["lambda"], "function"),
    "call": (lambda call: call, "Call"),
    "generator": (_iterates, "generator"),
    "nothing": (lambda call: None, "NoneType"),
    "another model": (lambda call: Given(), "Given"),
    "a class": (lambda call: Anything, "ModelMetaclass"),
}


@pytest.mark.parametrize("name", list(ANSWERS))
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_the_wrong_kind_of_answer_is_unknown_and_its_type_is_named(world: World, name: str) -> None:
    """C086: it has landed, and what came back proves nothing."""
    function, kind = ANSWERS[name]
    run = _run_one(world, Effect("odd", function, args=Given, receipt=Anything))
    assert (run.phase, run.steps[0].state) == ("running", "unknown")
    assert run.steps[0].error is not None
    assert kind in run.steps[0].error["text"]


def _run_one(world: World, effect: Effect[Any, Any]) -> Any:
    given = input_of(Given)
    saga = Saga("one", given, [Step("s1", effect, args=given, compensation=_undo())])
    world.client.start(saga, {"text": str(world.folder)}, run_id="r1")
    world.run_until_idle(App(saga, lifespan=lifespan(str(world.folder))), debug=True)
    return world.show()


def _undo() -> Compensation[Any, Any]:
    async def undo(call: Undo[Any, Any]) -> None: ...

    return Compensation("undo", undo)


def test_descriptors_do_not_grow_with_the_runs(world: World) -> None:
    """C086, last. Left for later: tasks that a function leaves behind are not named in the log."""
    app = returning(str(world.folder), lambda _: Anything(), threaded=True)
    counts = []
    for round_ in range(2):
        for number in range(150):
            world.client.start(app.sagas[0], {}, run_id=f"r{round_}-{number}")
        world.run_until_idle(app)
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[1] <= counts[0] + 2
    until(lambda: {run.outcome for run in world.client.runs(limit=500)} == {"completed"}, "done")
