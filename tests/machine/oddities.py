"""Commands that do not fit a state, or hardly do: each of them must be answered all the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from saga.definition.spec import SagaSpec
from saga.machine.commands import (
    BeginProbe,
    Cancel,
    Command,
    Decide,
    Intend,
    Lost,
    Park,
    ProbeAnswer,
    Reply,
    Report,
    Resolve,
    Send,
    Signal,
    Start,
    TakeTurn,
    Unfreezable,
    Wake,
)
from saga.machine.state import RunState
from saga.machine.verdicts import VERDICTS

__all__ = ["oddities"]


ERROR = {"type": "too_large", "text": "", "leaves": []}


def oddities(spec: SagaSpec, state: RunState, now: float) -> Iterator[Command]:
    """A command of every kind, for everything there is and some that is not."""
    yield Start(at=now, run_id="r", instance="i", tenant="", input=None, actor=None)
    yield Wake(at=now)
    yield Lost(at=now)
    yield TakeTurn(at=now)
    yield Park(at=now, reason="", actor=None)
    for wait, message in product(("none", spec.steps[-1].name), ("m", "n")):
        yield Signal(at=now, wait=wait, message=message, payload={}, actor=None)
    for name, version, digest in product(("none", spec.steps[-1].name), (1, 7), ("", "sha256:-")):
        for approve in (True, False):
            yield Decide(
                at=now,
                step=name,
                approve=approve,
                version=version,
                digest=digest,
                actor="eve",
                reason="",
            )
    yield Cancel(at=now, reason="", actor=None)
    for step in (-1, 0, len(spec.steps) - 1):
        yield from _of_step(step, now)
    for key in ("none", *state.actions):
        yield from _of_key(state, key, now)
    for case, verdict, version in product(("none", *state.cases), (*VERDICTS, "yes"), (1, 2)):
        yield Resolve(
            at=now,
            case=case,
            verdict=verdict,
            actor="",
            reason="",
            case_version=version,
            looked_at=now,
        )


def _of_step(step: int, now: float) -> Iterator[Command]:
    for of_key, generation in ((None, 1), ("none", 1), (None, 2)):
        yield Intend(
            at=now,
            fence=1,
            step=step,
            of_key=of_key,
            generation=generation,
            target="-",
            digest="",
            args=None,
            threaded=False,
        )
    yield Unfreezable(at=now, step=step, of_key=None, generation=1, error=ERROR)


def _of_key(state: RunState, key: str, now: float) -> Iterator[Command]:
    yield Send(at=now, fence=1, key=key, threaded=False)
    yield BeginProbe(at=now, key=key)
    for attempt, result in product((1, 99), ("landed", "refused", "not_sent", "yes")):
        yield Reply(at=now, key=key, attempt=attempt, result=result)
    for answer in ("landed", "absent", "yes"):
        yield ProbeAnswer(at=now, key=key, started=now, answer=answer)
    action = state.actions.get(key)
    digests = ("", action.digest if action else "-")
    for digest, result in product(digests, ("landed", "refused", "yes")):
        yield Report(at=now, key=key, digest=digest, attempt=1, result=result)
