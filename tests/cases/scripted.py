"""A saga whose effects do what the input of the run says, at an outside that is a `Ledger`.

`Plan.acts` has, for a step (`s1`), an undo (`undo s1`) or a probe (`ask s1`), what each attempt
does; the last entry stands for all later ones, and whoever is not mentioned lands and answers. An
entry is words, done in order:

land            apply the effect under its key (a second time under a key changes nothing)
land:careless   apply it whatever has landed before
wait:SECONDS    go on later; the loop or the other threads go on meanwhile
hold:GATE       go on when the test opens the gate
block:SECONDS   keep the thread that it runs on, as a call that was not written for a loop does
spin:SECONDS    keep it, and the processor
late:SECONDS    the provider acts later, by itself
drop            the answer is lost: an error that nobody declared
refuse:TEXT     declared: the other side said no
not_sent:AFTER  declared: nothing left; AFTER seconds are asked for (optional)
die             SIGKILL to the process
exit            it ends at once, with 1; `segfault`, `gorge`: by a bad address, by its memory
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    CannotSay,
    Compensation,
    Effect,
    InProgress,
    Irreversible,
    NothingToUndo,
    NotSent,
    Provider,
    Refused,
    Retry,
    Saga,
    Step,
    Undo,
    input_of,
)
from saga.definition.tuning import UNDECLARED
from tests.cases.ledger import Ledger, name_of

__all__ = [
    "FAST",
    "PROVIDERS",
    "Plan",
    "Proof",
    "act",
    "act_in_thread",
    "app",
    "ask",
    "lifespan",
    "take_back",
]

FAST: Mapping[str, Any] = {"attempts": 5, "first": 0.02, "longest": 2, "factor": 1, "jitter": 0}
"""Tuning for a `Retry` that does not make a test wait."""

PROVIDERS = {
    "both": Provider("both", key_life=3600, in_flight=0.1, visible_after=0.02, late_until=1),
    "keys": Provider("keys", key_life=3600, late_until=1),
    "asked": Provider("asked", in_flight=0.1, visible_after=0.02, late_until=1),
    "neither": UNDECLARED,
}


class Plan(BaseModel):
    """The input of a run."""

    acts: dict[str, list[str]] = {}


class Proof(BaseModel):
    """The receipt of everything here; it echoes the key."""

    receipt_id: str
    idempotency_key: str


async def act(call: Call[Plan]) -> Proof:
    """Do what the plan says, waiting as an async function should."""
    with _Called(call):
        for word in _words(call):
            for pause in _done(call, word):
                await asyncio.sleep(pause)
        return _proof(call)


def act_in_thread(call: Call[Plan]) -> Proof:
    """The same as a plain function: nobody can cut it off."""
    with _Called(call):
        for word in _words(call):
            for pause in _done(call, word):
                time.sleep(pause)
        return _proof(call)


async def take_back(call: Undo[Plan, Proof]) -> Proof:
    """The undo; it says so if it sees a cancellation."""
    try:
        return await act(call)
    except asyncio.CancelledError:
        call.resource(Ledger).called(call, "cancelled")
        raise


async def ask(call: Call[Plan]) -> Proof | Absent | InProgress | CannotSay:
    """The provider's status query."""
    ledger = call.resource(Ledger)
    said = call.args.acts.get(f"ask {name_of(call)}")
    if said is None:
        receipt = ledger.found(call.key)
        ledger.called(call, "ask", answer="landed" if receipt else "absent")
        return Proof(receipt_id=receipt, idempotency_key=call.key) if receipt else Absent()
    asked = len(ledger.lines("ask", key=call.key))
    ledger.called(call, "ask", answer=(answer := said[min(asked, len(said) - 1)]))
    match answer:
        case "absent":
            return Absent()
        case "in_progress":
            return InProgress()
        case _:
            return CannotSay(answer)


def app(
    folder: str,
    *,
    names: Sequence[str] = ("s1", "s2", "s3"),
    provider: str = "both",
    probe: bool = True,
    timeout: float = 10.0,
    timeouts: Mapping[str, float] | None = None,
    retry: Mapping[str, Any] | None = None,
    undo_retry: Mapping[str, Any] | None = None,
    threaded: Sequence[str] = (),
    nothing: Sequence[str] = (),
    irreversible: Sequence[str] = (),
    loose: Sequence[str] = (),
    deadline: float | None = None,
    name: str = "chain",
) -> App:
    """One saga of steps in a row. `timeouts` by step; the rest names steps, or tunes all."""
    plan = input_of(Plan)
    steps = []
    for step in names:
        effect = Effect(
            f"{name}.{step}",
            act_in_thread if step in threaded else act,
            probe=ask if probe else None,
            timeout=(timeouts or {}).get(step, timeout),
            provider=PROVIDERS[provider],
            retry=Retry(**{**FAST, **(retry or {})}),
        )
        undo: Compensation[Plan, Proof] | NothingToUndo | Irreversible = Compensation(
            f"{name}.undo-{step}",
            take_back,
            probe=ask if probe else None,
            timeout=(timeouts or {}).get(f"undo {step}", timeout),
            provider=PROVIDERS[provider],
            retry=Retry(**{**FAST, **(undo_retry or {})}),
        )
        if step in nothing:
            undo = NothingToUndo("reads only")
        if step in irreversible:
            undo = Irreversible("cannot be unsent")
        steps.append(Step(step, effect, args=plan, compensation=undo, hold=step not in loose))
    return App(Saga(name, plan, steps, deadline=deadline), lifespan=lifespan(folder))


def lifespan(folder: str) -> Any:
    """The lifespan that opens the ledger in `folder`."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[object]]:
        yield [Ledger(Path(folder))]

    return opened


class _Called:
    """Notes that a call came in, and that its function ended."""

    def __init__(self, call: Call[Plan]) -> None:
        self._call, self._ledger = call, call.resource(Ledger)

    def __enter__(self) -> None:
        self._ledger.called(self._call)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ledger.called(self._call, "end", error=None if kind is None else kind.__name__)


def _words(call: Call[Plan]) -> list[str]:
    attempts = call.args.acts.get(name_of(call), ["land"])
    return attempts[min(call.attempt, len(attempts)) - 1].split()


def _done(call: Call[Plan], word: str) -> Iterator[float]:
    """Do one word; yields the seconds to wait, one wait after the other."""
    ledger = call.resource(Ledger)
    name, _, value = word.partition(":")
    match name:
        case "land":
            ledger.land(call, careless=value == "careless")
        case "wait":
            yield float(value)
        case "hold":
            ledger.called(call, "held", gate=value)
            while not ledger.is_open(value):
                yield 0.005
        case "late":
            threading.Timer(float(value), ledger.land, [call]).start()
        case "block" | "spin":
            _keep(float(value), busy=name == "spin")
        case "die" | "exit" | "segfault" | "gorge":
            _die(name)
        case _:
            _raise(name, value)


def _die(how: str) -> None:
    match how:
        case "exit":
            os._exit(1)
        case "segfault":
            ctypes.string_at(0)
        case "gorge":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))
            libc = ctypes.CDLL(None)
            while libc.malloc(ctypes.c_size_t(2**24)):
                pass
            libc.abort()  # as a library does that has no memory left
        case _:
            os.kill(os.getpid(), signal.SIGKILL)


def _keep(seconds: float, *, busy: bool) -> None:
    until = time.monotonic() + seconds
    if not busy:
        time.sleep(seconds)
    while time.monotonic() < until:
        pass


def _raise(name: str, value: str) -> None:
    match name:
        case "drop":
            raise ConnectionError("the answer was lost")
        case "refuse":
            raise Refused(value)
        case "not_sent":
            raise NotSent("nobody answered", retry_after=float(value) if value else None)
        case _:
            raise AssertionError(f"no act is called {name!r}")


def _proof(call: Call[Plan]) -> Proof:
    receipt = call.resource(Ledger).found(call.key)
    return Proof(receipt_id=receipt or "nothing landed", idempotency_key=call.key)
