"""`run`: one run of a saga from its start to its rest, in a unit test of two lines.

The real machine, store and orchestrator, on a temporary SQLite file that is gone afterwards. Time
does not pass: waits, retries and deadlines are jumped to.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from saga.client import Client
from saga.definition.contracts import Compensation, Effect
from saga.definition.saga import App, Lifespan, Saga
from saga.definition.step import Step
from saga.definition.wait import Wait
from saga.errors import BadInput, SagaError
from saga.journal.writer import Writer
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.lookout import HintsOf
from saga.orchestrator.orchestrator import Orchestrator
from saga.orchestrator.shift import Shift
from saga.testing.explored import InlineThreads, InlineWriter
from saga.testing.moving import MovingClock, run_to_end
from saga.testing.silence import Silence
from saga.views import Run

__all__ = ["run"]

I = TypeVar("I", bound=BaseModel)  # noqa: E741  the input, as in Saga[I]

_RUN_ID = "test"
_LEASE = 365 * 86_400.0  # nobody else is there, and jumps in time cost no life
_POLL = 1.0  # the clock is moved so far at a time, where a due time is near
_ROUNDS = 1000  # more of them, and a run never comes to rest


def run(
    saga: Saga[I],
    input: I | Mapping[str, Any],  # noqa: A002  the word of the surface
    *,
    answers: Mapping[str, Any] | None = None,
    approved: Mapping[str, Sequence[str]] | None = None,
    lifespan: Lifespan | None = None,
) -> Run:
    """Run `saga` until it has ended or waits for a person, and give the run as it stands then.

    `answers` says what effects answer instead of being called: by the name of the step, or
    `"charge/undo"` for its compensation. An answer is a receipt (a model or its dict), an exception
    to be raised, a function of the call, or a list of these, one for each attempt; the last one
    stays. That of a `Wait` is what its signal brings; without one nobody signals. `approved` says
    by whom, step by step: they agree as soon as they are asked; nobody else does. Effects without
    an answer run for real, with the resources of `lifespan`.

    Raises `BadInput` for an answer to a step that the saga does not have.
    """
    waits = {step.name for step in saga.steps if isinstance(step, Wait) and step.signal}
    signals = {name: given for name, given in (answers or {}).items() if name in waits}
    calls = {name: given for name, given in (answers or {}).items() if name not in waits}
    scripted = _scripted(saga, calls)
    clock = MovingClock()
    with tempfile.TemporaryDirectory(prefix="saga-run-") as folder:
        url = f"sqlite:///{Path(folder) / 'run.db'}"
        client = Client(url, clock=clock)
        try:
            client.start(saga, input, run_id=_RUN_ID)
            for name, payload in signals.items():
                client.signal(_RUN_ID, name, payload, message_id="test")
            people = approved or {}
            return run_to_end(
                clock, lambda: _to_rest(scripted, lifespan, client, url, clock, people)
            )
        finally:
            client.close()


async def _to_rest(
    saga: Saga[Any],
    lifespan: Lifespan | None,
    client: Client,
    url: str,
    clock: MovingClock,
    people: Mapping[str, Sequence[str]],
) -> Run:
    app = App(saga, lifespan=lifespan)
    async with _Orchestrator(app, url, lease=_LEASE, poll=_POLL, clock=clock) as orchestrator:
        for _ in range(_ROUNDS):
            await orchestrator.run_until_idle()
            if _approve(client, people):
                continue
            now = client.show(_RUN_ID)
            if now.phase == "ended" or now.cases or now.due_at is None:
                return now
            clock.move(now.due_at.timestamp() - clock.now())
    raise SagaError(f"the run does not come to rest within {_ROUNDS} waits")


def _approve(client: Client, people: Mapping[str, Sequence[str]]) -> bool:
    """Whether somebody has agreed who is asked and has not yet."""
    for one in client.approvals():
        for person in people.get(one.step, ()):
            if person not in one.given:
                client.approve(
                    _RUN_ID, one.step, version=one.version, digest=one.digest, actor=person
                )
                return True
    return False


class _Shift(Shift):
    _writer_type: type[Writer] = InlineWriter
    _hints: HintsOf = Silence


class _Orchestrator(Orchestrator):
    """On the loop alone, so that the moving clock never runs ahead of a thread."""

    _shift_type: type[Shift] = _Shift

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lanes = Lanes(InlineThreads(1000))


def _scripted(saga: Saga[Any], answers: Mapping[str, Any]) -> Saga[Any]:
    """The saga with the functions of some contracts replaced; its meaning is the same."""
    choices = [choice for step in saga.steps for choice in step.choices]
    known = {step.name for step in choices}
    known |= {f"{step.name}/undo" for step in choices if step.undo is not None}
    if unknown := sorted(answers.keys() - known):
        raise BadInput(
            f"there is no {unknown[0]!r} to answer for", remedy=f"there are: {sorted(known)}"
        )
    scripted = copy.copy(saga)
    scripted.steps = tuple(_scripted_step(step, answers) for step in saga.steps)
    return scripted


def _scripted_step(original: Step[Any, Any], answers: Mapping[str, Any]) -> Step[Any, Any]:
    step = copy.copy(original)
    if step.name in answers:
        step.effect = _answering(step.effect, answers[step.name])
    if step.undo is not None and f"{step.name}/undo" in answers:
        step.compensation = _answering(step.undo, answers[f"{step.name}/undo"])
    step.instead = tuple(_scripted_step(one, answers) for one in step.instead)
    return step


C = TypeVar("C", Effect[Any, Any], Compensation[Any, Any])


def _answering(contract: C, answer: Any) -> C:
    given = _each(answer if isinstance(answer, list) else [answer])

    async def answered(call: Any) -> Any:
        this = next(given)
        if isinstance(this, BaseException) or (
            isinstance(this, type) and issubclass(this, BaseException)
        ):
            raise this
        return this(call) if _is_function(this) else this

    scripted = copy.copy(contract)
    scripted.do = answered
    scripted.threaded = False
    return scripted


def _each(answers: Sequence[Any]) -> Iterator[Any]:
    """One after the other, the last one for ever."""
    yield from answers
    while True:
        yield answers[-1]


def _is_function(answer: Any) -> Callable[[Any], Any] | None:
    return answer if callable(answer) and not isinstance(answer, BaseModel | type) else None
