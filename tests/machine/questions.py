"""The commands that the decision table gives to every situation, each with its words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saga.definition.keys import place_of
from saga.definition.spec import SagaSpec
from saga.machine.commands import (
    Cancel,
    Command,
    Decide,
    Lost,
    ProbeAnswer,
    Reply,
    Report,
    Resolve,
    Send,
    Signal,
    Wake,
)
from saga.machine.plan import BeginNow
from saga.machine.state import Action, Case, RunState, step_of
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
        newest = state.progress[step.index].newest
        for item, action in newest.items() or [(None, None)]:
            yield from _of_step(spec, state, BeginNow(step.index, None, 1, item), now)
            if action is not None and step_of(spec.steps, action).compensation is not None:
                undo = BeginNow(step.index, action.key, 1, item)
                yield from _of_step(spec, state, undo, now)
        if step.wait is not None and step.wait.signal:
            payload = {name: 1 for name, _ in step.wait.signal}
            yield f"signal for {step.name}", _signal(step.name, "m1", payload, now)
            yield f"signal for {step.name}, lacking a field", _signal(step.name, "m2", {}, now)
        if step.approval is not None:
            yield from _decisions(newest.get(None), step.name, now)
    for action in state.actions.values():
        if action.superseded and (action.watch is not None or action.late):
            name = name_of(spec, action)
            yield from _answers(spec, action, name, now)
            yield from _reports(action, name, now)
    for case in state.cases.values():
        if case.state == "open":
            yield from _of_case(spec, state, case, now)


def _signal(wait: str, message: str, payload: dict[str, int], now: float) -> Signal:
    return Signal(at=now, wait=wait, message=message, payload=payload, actor=None)


def _decisions(action: Action | None, step: str, now: float) -> Iterator[tuple[str, Command]]:
    version = action.approval.version if action is not None and action.approval else 7
    digest = action.digest if action is not None else ""

    def decide(actor: str, digest: str, *, approve: bool = True) -> Decide:
        return Decide(
            at=now,
            step=step,
            approve=approve,
            version=version,
            digest=digest,
            actor=actor,
            reason="I looked",
        )

    yield f"ada approves {step}", decide("ada", digest)
    yield f"bob approves {step}", decide("bob", digest)
    yield f"ada refuses {step}", decide("ada", digest, approve=False)
    yield f"eve approves {step}", decide("eve", digest)
    yield f"ada approves another {step}", decide("ada", "sha256:another")


def _of_step(
    spec: SagaSpec, state: RunState, first: BeginNow, now: float
) -> Iterator[tuple[str, Command]]:
    """What may be told of an action, forward or undo, or asked before there is one."""
    of = None if first.of_key is None else state.actions[first.of_key]
    action = state.newest(first.step, first.item) if of is None else state.undo_of(of)
    generation = 1 if action is None else action.generation + 1
    choice = action.choice if action is not None and of is None else 0
    name = place_of(spec.steps[first.step].name, first.item)
    own = "" if generation == 1 else f"~{generation}"
    begin = order_for(state, replace(first, generation=generation, choice=choice), now)
    yield f"begin {name}{own}" if of is None else f"begin undo{own} of {name_of(spec, of)}", begin
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
