"""The commands that the decision table gives to every situation, each with its words."""

from __future__ import annotations

from collections.abc import Iterator

from saga.definition.spec import SagaSpec
from saga.machine.commands import (
    Cancel,
    Command,
    Lost,
    ProbeAnswer,
    Reply,
    Report,
    Resolve,
    Send,
    Wake,
)
from saga.machine.plan import BeginNow
from saga.machine.state import Action, Case, RunState
from saga.machine.verdicts import VERDICTS
from saga.machine.ways import contract_of
from tests.machine.orders import order_for
from tests.machine.wording import name_of

__all__ = ["questions"]

ERROR = {"type": "Broken", "text": "it broke", "leaves": []}


def questions(spec: SagaSpec, state: RunState, now: float) -> Iterator[tuple[str, Command]]:
    """What may be asked of a run, or told to it, at `now`."""
    yield "time passes", Wake(at=now)
    yield "owner lost", Lost(at=now)
    yield "cancel", Cancel(at=now, reason="changed my mind", actor="ada")
    for step in spec.steps:
        action = state.newest(step.index)
        yield from _of_step(spec, state, step.index, None, now)
        if action is not None and step.compensation is not None:
            yield from _of_step(spec, state, step.index, action, now)
    for case in state.cases.values():
        if case.state == "open":
            yield from _of_case(spec, state, case, now)


def _of_step(
    spec: SagaSpec, state: RunState, step: int, of: Action | None, now: float
) -> Iterator[tuple[str, Command]]:
    action = state.newest(step) if of is None else state.undo_of(of)
    generation = 1 if action is None else action.generation + 1
    name = spec.steps[step].name if of is None else f"undo of {spec.steps[step].name}"
    begin = order_for(state, BeginNow(step, None if of is None else of.key, generation), now)
    yield f"begin {name}" if generation == 1 else f"begin {name}~{generation}", begin
    if action is not None:
        name = name_of(spec, action)
        yield f"send {name}", Send(at=now, fence=1, key=action.key, threaded=False)
        yield from _replies(action, name, now)
        yield from _answers(spec, action, name, now)
        yield from _reports(action, name, now)


def _receipt(action: Action) -> str:
    """The one that the outside of a walk gives."""
    return f"{action.key}="


def _replies(action: Action, name: str, now: float) -> Iterator[tuple[str, Command]]:
    for number, attempt in action.open.items():
        which = "the call" if attempt.in_flight else "the unknown attempt"
        results = ["landed"] * attempt.in_flight + ["refused", "not_sent", "unknown"]
        for result in results:
            receipt, error = (_receipt(action), None) if result == "landed" else (None, ERROR)
            yield (
                f"{name}, {which}: {result.replace('_', ' ')}",
                Reply(
                    at=now,
                    key=action.key,
                    attempt=number,
                    result=result,
                    receipt=receipt,
                    error=error,
                ),
            )
        for words in ("key taken", "still running") if attempt.in_flight else ():
            reply = Reply(
                at=now,
                key=action.key,
                attempt=number,
                result="unknown",
                error=ERROR,
                running=words == "still running",
                conflict=words == "key taken",
            )
            yield f"{name}, {which}: unknown, {words}", reply


def _answers(
    spec: SagaSpec, action: Action, name: str, now: float
) -> Iterator[tuple[str, Command]]:
    if not contract_of(spec, action).probe:
        return
    answers = ["landed", "absent", "in_progress", "cannot_say"]
    for answer in answers if action.state not in ("landed", "accepted", "refused") else answers[:2]:
        receipt = _receipt(action) if answer == "landed" else None
        yield (
            f"{name}, probe: {answer.replace('_', ' ')}",
            ProbeAnswer(at=now, key=action.key, started=now, answer=answer, receipt=receipt),
        )


def _reports(action: Action, name: str, now: float) -> Iterator[tuple[str, Command]]:
    def report(receipt: str) -> Report:
        return Report(at=now, key=action.key, digest=action.digest, attempt=0, receipt=receipt)

    yield f"{name}, report: landed", report(_receipt(action))
    if action.state == "landed":
        yield f"{name}, report: another receipt", report("another")


def _of_case(
    spec: SagaSpec, state: RunState, case: Case, now: float
) -> Iterator[tuple[str, Command]]:
    action = state.actions[case.key]
    name = name_of(spec, action)

    def verdict(of: str, *, version: int = case.version, looked_at: float = now) -> Resolve:
        return Resolve(
            at=now,
            case=case.id,
            verdict=of,
            actor="ada",
            reason="I looked",
            case_version=version,
            looked_at=looked_at,
            receipt=_receipt(action) if of == "landed" else None,
            evidence="I did it myself" if of == "undone" else None,
        )

    for of in VERDICTS[:6]:  # the others are about a budget, and none of these sagas has one
        yield f"case of {name}: {of}", verdict(of)
    yield f"case of {name}: retry, looked before", verdict("retry", looked_at=0.0)
    yield f"case of {name}: accept, old version", verdict("accept", version=case.version - 1)
