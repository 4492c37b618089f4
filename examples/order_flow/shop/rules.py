"""The rule book: which request the shop treats badly, and how.

A rule matches requests by run, step, path, method, key, direction and count, and is used up after
`times`. The first rule that fits is applied; at most one per request. Probes (`GET`) are only met
by rules that say `method="GET"`, so that a rule for a charge does not hit the question about it.

    act            what happens
    -------------  --------------------------------------------------------------------------
    refuse         answered `status` (400) and `code`, kept under the key; nothing happens
    error_before   500 before acting; kept under the key only if `stored`
    error_after    acts, then 500; the 500 is what is kept under the key if `stored`
    drop_request   the connection is closed before anything was read
    drop_answer    acts, then closes the connection without an answer
    hold_request   does not act until released; meanwhile the key is in flight (`visible`)
    hold_answer    acts, then does not answer until released
    slow_request   waits `seconds`, acts, answers
    slow_answer    acts, waits `seconds`, answers
    late           closes the connection now (or stays `silent`) and acts after `seconds`, as if the
                   request had been under way that long: no trace of it until then
    malformed      acts, then answers `how`: json, html, truncated, array, empty, huge, type
    wrong_key      acts, then echoes another idempotency key and digest in its receipt
    busy           503 (or `status`) with `retry_after`; nothing happens
    in_flight      409, as if the key were in flight; nothing happens
    forget         forgets the key first, then does as asked: what landed lands again
    hide           GET only: says 404 about what landed

`Chaos` draws from the acts a run must survive without a person, by a hash of seed and request: the
same seed treats the n-th request of a key the same way in whatever order the requests arrive.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from examples.order_flow.shop.ledger import Asked

__all__ = ["Act", "Book", "Chaos", "How", "Match", "Rule"]

Act = Literal[
    "refuse", "error_before", "error_after", "drop_request", "drop_answer", "hold_request",
    "hold_answer", "slow_request", "slow_answer", "late", "malformed", "wrong_key", "busy",
    "in_flight", "forget", "hide",
]  # fmt: skip
How = Literal["json", "html", "truncated", "array", "empty", "huge", "type"]


class Match(BaseModel):
    """Which requests: `*` and `?` are allowed in texts; what is left out matches everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str = "*"
    step: str = "*"
    path: str = "*"
    key: str = "*"
    method: Literal["POST", "GET"] = "POST"
    undo: bool | None = None
    nth: int | None = Field(default=None, ge=1)  # the nth of those that fit, counted from 1

    def fits(self, asked: Asked) -> bool:
        """All but `nth`, which needs a memory."""
        return (
            self.method == asked.method
            and self.undo in (None, asked.of_key is not None)
            and fnmatchcase(asked.run_id, self.run_id)
            and fnmatchcase(asked.step, self.step)
            and fnmatchcase(asked.path, self.path)
            and fnmatchcase(asked.key, self.key)
        )


class Rule(BaseModel):
    """One misbehaviour. `times=None`: for ever."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    act: Act
    match: Match = Match()
    times: int | None = Field(default=1, ge=1)
    status: int | None = Field(default=None, ge=200, le=599)
    code: str = "refused"
    retry_after: str | None = None
    seconds: float = Field(default=0.2, ge=0, le=3600)
    stored: bool = False
    visible: bool = True
    silent: bool = False
    how: How = "json"


@dataclass
class _Entry:
    """A rule in the book, with what it has met."""

    rule: Rule
    fitted: int = 0
    hits: int = 0

    def takes(self, asked: Asked) -> bool:
        """Whether this request is one for the rule; counts it if it fits."""
        rule = self.rule
        if not rule.match.fits(asked):
            return False
        self.fitted += 1
        used_up = rule.times is not None and self.hits >= rule.times
        return not used_up and rule.match.nth in (None, self.fitted)


@dataclass(frozen=True)
class Chaos:
    """Misbehaviour by chance, `rate` of all requests, repeatable by `seed`."""

    seed: str
    rate: float
    refuse: float = 0.0  # of all forward actions
    seen: Counter[str] = field(default_factory=Counter)

    def pick(self, asked: Asked) -> Rule | None:
        request = f"{asked.method} {asked.path} {asked.key}"
        self.seen[request] += 1
        draw = random.Random(f"{self.seed} {request} {self.seen[request]}")  # noqa: S311
        forward = asked.method == "POST" and asked.of_key is None
        if forward and draw.random() < self.refuse:
            return Rule(act="refuse")
        if draw.random() >= self.rate:
            return None
        if asked.method == "GET":
            act = draw.choice(("error_before", "drop_request", "drop_answer", "busy", "malformed"))
            return Rule.model_validate({"act": act, "retry_after": "0"})
        act = draw.choice(
            (
                "error_before", "error_after", "drop_request", "drop_answer", "slow_request",
                "slow_answer", "late", "malformed", "busy", "in_flight",
            )
        )  # fmt: skip
        how = draw.choice(("json", "html", "truncated", "array", "empty"))
        seconds = draw.uniform(0.01, 0.3)
        return Rule.model_validate({"act": act, "how": how, "seconds": seconds, "retry_after": "0"})


class Book:
    """All rules, in the order in which they were added."""

    def __init__(self, chaos: Chaos | None = None) -> None:
        self._entries: dict[int, _Entry] = {}
        self._next = 1
        self._chaos = chaos

    def add(self, rule: Rule) -> int:
        """Take the rule in; its number."""
        number, self._next = self._next, self._next + 1
        self._entries[number] = _Entry(rule)
        return number

    def clear(self) -> None:
        self._entries.clear()

    def pick(self, asked: Asked) -> Rule | None:
        """The rule for this request, if there is one; every rule that fits counts it."""
        takers = [entry for entry in self._entries.values() if entry.takes(asked)]
        if takers:
            takers[0].hits += 1
            return takers[0].rule
        return self._chaos.pick(asked) if self._chaos else None

    def entries(self) -> list[dict[str, object]]:
        """The book as JSON: each rule with how often it fitted and was applied."""
        return [
            {"id": number, **entry.rule.model_dump(), "fitted": entry.fitted, "hits": entry.hits}
            for number, entry in self._entries.items()
        ]
