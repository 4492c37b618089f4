"""Steps that only wait: when one begins, and what ends it: a time, a signal, or its limit.

Nothing is called, so all of it is decided: a wait begins and ends with the record that makes it so.
A signal that comes early is kept until its wait begins.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf

from saga.definition.canonical import digest
from saga.definition.spec import SagaSpec, StepSpec, WaitSpec
from saga.machine.action_events import Landed, Refused, WaitBegun
from saga.machine.commands import Rejected, Rejection, Signal
from saga.machine.events import Event, Signalled
from saga.machine.facts import Json
from saga.machine.forward import begins_in_time, goes_forward, may_come
from saga.machine.intended import forward_intent
from saga.machine.paths import at_path
from saga.machine.state import RunState, step_of

__all__ = ["begun_waits", "ended_waits", "signalled"]


def begun_waits(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """The waits that begin at `now`: what they follow is done."""
    if state.lacks_turn:
        return []
    ready = [spec.steps[index] for index in state.ready]
    due = [step for step in ready if begins_in_time(spec, state, step, now)]
    return [event for step in due if step.wait for event in _begun(state, step, step.wait, now)]


def _begun(state: RunState, step: StepSpec, wait: WaitSpec, now: float) -> list[Event]:
    until, fault = None, ""
    if wait.time is not None:
        until = now + wait.time
    elif wait.until:
        until, fault = _moment(state, wait.until)
    args = {"until": None if wait.until is None else at_path(state, wait.until)}
    intent = {"contract": step.effect.label, "target": "-", "arguments": args}
    intended = forward_intent(
        state,
        step,
        target="-",
        digest=digest(intent),
        args=args,
        deadline_at=None if wait.limit is None else now + wait.limit,
    )
    if fault:
        return [intended, _refused(intended.key, "NoMoment", fault, now)]
    return [intended, WaitBegun(key=intended.key, until=until)]


def _moment(state: RunState, path: tuple[str, ...]) -> tuple[float | None, str]:
    """The time that a path names (unix seconds), or what is wrong with it."""
    text = at_path(state, path)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return None, f"{'.'.join(path)} has no offset from UTC"
        return moment.astimezone(UTC).timestamp(), ""
    except (TypeError, ValueError, OverflowError):
        return None, f"{'.'.join(path)} is no time"


def ended_waits(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """The waits that are over at `now`, whichever way."""
    if not goes_forward(state, now):
        return []
    ended: list[Event] = []
    for action in state.moving.values():
        wait = step_of(spec.steps, action).wait
        if wait is None or action.state != "intended":
            continue
        if not begins_in_time(spec, state, step_of(spec.steps, action), now):
            continue
        signal = state.signals.get(action.step)
        if signal is not None:
            ended.append(_landed(action.key, None, "signal"))  # on record already
        elif action.due <= now:
            ended.append(_landed(action.key, {"at": _shown(action.due)}, "time"))
        elif action.deadline_at is not None and action.deadline_at <= now:
            text = f"no signal within {wait.limit:g} s"
            ended.append(_refused(action.key, "Expired", text, now))
    return ended


def _landed(key: str, receipt: Json, source: str) -> Landed:
    return Landed(key=key, attempt=0, receipt=receipt, source=source)


def _refused(key: str, kind: str, text: str, now: float) -> Refused:
    error = {"type": kind, "text": text, "leaves": []}
    return Refused(key=key, attempt=0, error=error, settles=True, due=now)


def _shown(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def _misfit(step: StepSpec, payload: Json) -> str | None:
    """What a payload lacks, or has too much, by the names of the fields of its model."""
    fields = () if step.wait is None else step.wait.signal
    given = payload if isinstance(payload, dict) else {}
    lacks = [name for name, needed in fields if needed and name not in given]
    odd = sorted(given.keys() - {name for name, _ in fields})
    if lacks:
        return f"the signal for {step.name} lacks {', '.join(lacks)}"
    return f"the signal for {step.name} has no field {', '.join(odd)}" if odd else None


def signalled(spec: SagaSpec, state: RunState, command: Signal) -> list[Event] | Rejected:
    """What a signal means: it is kept for its wait, once."""
    waits = {step.name: step for step in spec.steps if step.wait and step.wait.signal}
    step = waits.get(command.wait)
    if step is None:
        there = ", ".join(waits) or "none"
        text = f"no wait {command.wait!r} of this run takes a signal; those that do: {there}"
        return Rejected(Rejection.UNKNOWN_ACTION, text)
    known = state.signals.get(step.index)
    if known is not None and known.message == command.message:
        if known.payload != command.payload:
            text = f"message {command.message} has brought another payload to {step.name} before"
            return Rejected(Rejection.WRONG_DIGEST, text)
        return Rejected(Rejection.NOTHING_NEW, f"message {command.message} is recorded already")
    if state.phase == "ended":
        return Rejected(Rejection.ENDED, f"run {state.run_id} has ended as {state.outcome}")
    if state.phase != "running":
        return Rejected(Rejection.WINDING_DOWN, f"run {state.run_id} is being undone")
    if (fault := _misfit(step, command.payload)) is not None:
        return Rejected(Rejection.NOT_POSSIBLE, fault)
    action = state.newest(step.index)
    if not may_come(state, step):
        return Rejected(Rejection.NOT_POSSIBLE, f"the run has gone another way than {step.name}")
    if known is not None or (action is not None and action.state != "intended"):
        text = f"{step.name} does not wait any more"
        return Rejected(Rejection.NOT_POSSIBLE, text)
    if action is not None and (action.deadline_at or inf) <= command.at:
        return Rejected(Rejection.NOT_POSSIBLE, f"the limit of {step.name} has passed")
    return [
        Signalled(
            step=step.name,
            message=command.message,
            payload=command.payload,
            actor=command.actor,
        )
    ]
