"""What is outside: what landed, what providers keep under which key, what is still under way.

It keeps the promises of each provider and nothing beyond them: a request under a known key is
answered from the first one for as long as `key_life` says, an effect shows in a probe after
`visible_after`, a request lands as late as `in_flight` allows, a straggler as `late_until` does.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from saga.clock import Clock
from saga.definition.calls import Call, Undo
from saga.definition.spec import ProviderSpec
from saga.errors import Conflict

__all__ = ["Answer", "Facts", "Fate", "NoAnswer", "Outside", "Snapshot"]

_UNDECLARED_LATENESS = 3600.0
_JUST_BEFORE = 0.001  # a straggler lands within its bound, not on it: sums of floats are not exact


class Fate(StrEnum):
    """What becomes of a request."""

    ACT = "acts"
    REFUSE = "is refused"
    NOT_SENT = "is provably not sent"
    LOSE_REQUEST = "is lost on the way"
    LOSE_REPLY = "acts, and its reply is lost"
    LATE = "is under way for as long as it can be, then acts"
    STRAGGLE = "is under way for longer than promised, then acts"
    MISDIRECT = "is lost, and the reply to another one comes"


class NoAnswer(Exception):
    """The connection ended without an answer: nobody can say what became of the request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider keeps under a key: `receipt` where it landed, else the refusal."""

    digest: str
    at: float
    receipt: Any = None
    refusal: Exception | None = None

    @property
    def landed(self) -> bool:
        """Whether it happened."""
        return self.refusal is None


@dataclass(frozen=True, slots=True)
class Facts:
    """How a provider really is; `keys`: whether it honours them, whatever it promises."""

    promised: ProviderSpec
    keys: bool

    @property
    def key_life(self) -> float:
        """For how long a request under a known key is the same effect."""
        if not self.keys:
            return 0.0
        return self.promised.key_life if self.promised.key_life is not None else float("inf")


@dataclass(frozen=True, slots=True)
class _Straggler:
    call: Call[Any]
    facts: Facts
    answer: Answer
    lands_at: float


@dataclass(slots=True)
class _Plan:
    """The fates of the next requests of one contract, and of all after them."""

    next: deque[Fate]
    then: Fate


@dataclass(slots=True)
class Snapshot:
    """All that is outside at one moment."""

    ledger: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    stragglers: list[_Straggler] = field(default_factory=list)
    plans: dict[str, _Plan] = field(default_factory=dict)

    def copied(self) -> Snapshot:
        """The same, sharing nothing that changes."""
        plans = {name: replace(one, next=deque(one.next)) for name, one in self.plans.items()}
        return Snapshot(list(self.ledger), dict(self.answers), list(self.stragglers), plans)

    def likeness(self) -> tuple[object, ...]:
        """What tells it from another one; times do not."""
        return (
            tuple(entry["key"] for entry in self.ledger),
            tuple((key, one.landed) for key, one in self.answers.items()),
            tuple((one.call.key, one.call.attempt) for one in self.stragglers),
            tuple((name, tuple(one.next), one.then) for name, one in self.plans.items()),
        )


class Outside:
    """A provider's side of every call. May be used from several threads."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.now: Snapshot = Snapshot()
        self._lock = threading.RLock()

    def ledger(self) -> list[dict[str, Any]]:
        """What has landed by now."""
        with self._lock:
            self._arrivals()
            return [dict(entry) for entry in self.now.ledger]

    def settle(self) -> None:
        """Let everything land that is still under way, as if enough time had passed."""
        with self._lock:
            self._arrivals(everything=True)

    def plan(self, name: str, fates: tuple[Fate, ...], then: Fate) -> None:
        """What becomes of the next requests of a contract, and of all after them."""
        with self._lock:
            self.now.plans[name] = _Plan(deque(fates), then)

    def fate(self, name: str) -> Fate:
        """What becomes of this request."""
        with self._lock:
            plan = self.now.plans.get(name)
            if plan is None:
                return Fate.ACT
            return plan.next.popleft() if plan.next else plan.then

    def known(self, call: Call[Any], facts: Facts) -> Answer | None:
        """The answer to a request that came before, from a provider that honours keys."""
        with self._lock:
            self._arrivals()
            answer = self.now.answers.get(call.key)
            if answer is None or self.clock.now() - answer.at >= facts.key_life:
                return None
            if answer.digest != call.digest:
                raise Conflict(f"{call.key} was used with another body")
            return answer if answer.landed or facts.promised.replays_refusals else None

    def act(self, call: Call[Any], answer: Answer) -> None:
        """It happens, or is refused, at `answer.at`."""
        with self._lock:
            before = self.now.answers.get(call.key)
            if answer.landed or before is None or not before.landed:
                self.now.answers[call.key] = answer
            if answer.landed:
                self.now.ledger.append(_entry(call, answer.at))

    def delay(self, call: Call[Any], facts: Facts, answer: Answer, fate: Fate) -> None:
        """It is still under way when its caller gives up, and lands as late as it can."""
        promised = facts.promised
        with self._lock:
            bound = promised.late_until if fate is Fate.STRAGGLE else promised.in_flight
            bound = _UNDECLARED_LATENESS if bound is None else bound
            lands_at = max(call.deadline.timestamp() + bound - _JUST_BEFORE, self.clock.now())
            self.now.stragglers.append(_Straggler(call, facts, answer, lands_at))

    def shown(self, call: Call[Any], facts: Facts) -> Answer | None:
        """What a probe by key sees."""
        with self._lock:
            self._arrivals()
            answer = self.now.answers.get(call.key)
            if answer is None or not answer.landed:
                return None
            seen_from = answer.at + (facts.promised.visible_after or 0.0)
            return answer if self.clock.now() >= seen_from else None

    def _arrivals(self, *, everything: bool = False) -> None:
        """Stragglers whose time has come: nobody can have looked in between."""
        now = float("inf") if everything else self.clock.now()
        due = [one for one in self.now.stragglers if one.lands_at <= now]
        for one in sorted(due, key=lambda one: one.lands_at):
            self.now.stragglers.remove(one)
            before = self.now.answers.get(one.call.key)
            known = before is not None and before.landed
            if before is not None and known and one.lands_at - before.at < one.facts.key_life:
                continue  # the same effect once more
            self.act(one.call, replace(one.answer, at=one.lands_at))


def _entry(call: Call[Any], at: float) -> dict[str, Any]:
    return {
        "key": call.key,
        "run_id": call.run_id,
        "step": call.step,
        "of_key": call.of_key if isinstance(call, Undo) else None,
        "at": at,
    }
