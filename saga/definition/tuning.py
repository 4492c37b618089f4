"""Tuning: what may change without a new version of the saga.

Rules:

* The defaults are the worst plausible provider, wrong only towards waiting or asking a person.
  `None` means "not declared"; it is never read as zero.
* A duration is a `timedelta` or seconds. It is checked here, once, and kept as seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from saga.definition.keys import KEY_LEAST, KEY_MAX
from saga.definition.names import check_name
from saga.definition.spec import FOREVER, ProviderSpec, RetrySpec
from saga.errors import DefinitionError

__all__ = [
    "IDEMPOTENT",
    "UNDECLARED",
    "Duration",
    "Provider",
    "Retry",
    "check_concurrency",
    "seconds",
]

Duration: TypeAlias = timedelta | float

_MOST = 1000
_SHORTEST = 1e-6
_KEY_MAX = range(KEY_LEAST, KEY_MAX + 1)


def seconds(duration: object, what: str, *, zero: bool = False, longest: float = FOREVER) -> float:
    """A duration in seconds. `DefinitionError` names `what` if it is none, or out of bounds."""
    if isinstance(duration, timedelta):
        value = duration.total_seconds()
    elif isinstance(duration, int | float) and not isinstance(duration, bool):
        value = float(max(-1, min(duration, longest * 2)))  # also of integers no float can hold
    else:
        raise DefinitionError(
            "bad-duration",
            f"{what} is {type(duration).__name__}",
            remedy="Give a timedelta, or a number of seconds",
        )
    shortest = 0.0 if zero and value == 0 else _SHORTEST
    if not shortest <= value <= longest:
        shown = f"{value:g}" if isinstance(duration, int) else str(duration)
        least = "0" if zero else "more than 0"
        raise DefinitionError(
            "bad-duration",
            f"{what} is {shown}",
            remedy=f"Give {least} and at most {timedelta(seconds=longest).days} days",
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often and how fast an action is tried again: `first * factor**n`, at most `longest`.

    `attempts` (1 to 1000) bounds what is provably not sent; it also bounds, each counted apart,
    `resends` (how often what is unknown is sent again under its key; `attempts - 1` if left out)
    and `probes` (answers that settle nothing). A refused action gets a new key, and one that is
    proven absent where its key is of no more use, as long as it has not used up `generations` of
    them; 1, the default: only a person asks for another. (Where a provider ignores keys, what is
    proven absent is sent again under a new key within the bound of `resends` anyway.) `crashes`
    bounds the calls in a row that end with the death of their process; then a person is asked,
    since the call may be what kills it.

    `jitter` is added on top, the same one for the same key and attempt. Durations are `timedelta`
    or seconds. Raises `DefinitionError` for anything out of bounds.
    """

    attempts: int = 5
    first: Duration = 1.0
    factor: float = 2.0
    longest: Duration = 60.0
    jitter: Duration = 1.0
    resends: int | None = None
    probes: int | None = None
    generations: int = 1
    crashes: int = 3
    spec: RetrySpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _count("attempts", self.attempts)
        _count("probes", 1 if self.probes is None else self.probes)
        _count("resends", 0 if self.resends is None else self.resends, least=0)
        _count("generations", self.generations)
        _count("crashes", self.crashes)
        if type(self.factor) not in {int, float} or not 1 <= self.factor <= 100:
            raise DefinitionError(
                "bad-retry", f"factor is {self.factor!r}", remedy="Give a number from 1 to 100"
            )
        spec = RetrySpec(
            attempts=self.attempts,
            first=seconds(self.first, "first", zero=True),
            factor=float(self.factor),
            longest=seconds(self.longest, "longest", zero=True),
            jitter=seconds(self.jitter, "jitter", zero=True),
            resends=self.resends,
            probes=self.probes,
            generations=self.generations,
            crashes=self.crashes,
        )
        if spec.longest < spec.first:
            raise DefinitionError(
                "bad-retry",
                f"longest ({spec.longest:g} s) is shorter than first ({spec.first:g} s)",
                remedy="Give first= a shorter time too",
            )
        object.__setattr__(self, "spec", spec)


def _count(what: str, given: object, *, least: int = 1) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= _MOST:
        raise DefinitionError(
            "bad-retry",
            f"{what} is no whole number within bounds",
            remedy=f"Give a whole number from {least} to {_MOST}",
        )


def check_concurrency(what: str, given: object) -> int | None:
    """A limit of calls at once as it was given; `DefinitionError` if it is none."""
    if given is None or (type(given) is int and 1 <= given <= _MOST):
        return given
    raise DefinitionError(
        "bad-concurrency",
        f"{what}: concurrency is {given!r}",
        remedy=f"Give a whole number from 1 to {_MOST}",
    )


@dataclass(frozen=True)
class Provider:
    """What the other side guarantees. Everything left out counts as "not guaranteed".

    `key_life`: how long a repeated request under the same key is the same effect (None: keys are
    not honoured, nothing is resent after unknown). `in_flight`: how long a request can be under
    way. `visible_after`: when an action shows in a probe at the latest. `late_until`: until when
    after its deadline a straggler can still land. `replays_refusals`: a refusal under a key is
    final for every attempt under that key. `replays_errors`: a stored error comes back under the
    same key. `key_max`: the longest key it takes, 36 to 255 characters. `concurrency`: how many
    calls and probes one process has there at once, of all its effects and compensations together.
    Durations are `timedelta` or seconds. Raises `DefinitionError` for anything out of bounds or
    contradictory.
    """

    name: str
    key_life: Duration | None = field(default=None, kw_only=True)
    in_flight: Duration | None = field(default=None, kw_only=True)
    visible_after: Duration | None = field(default=None, kw_only=True)
    late_until: Duration | None = field(default=None, kw_only=True)
    replays_refusals: bool = field(default=False, kw_only=True)
    replays_errors: bool = field(default=True, kw_only=True)
    key_max: int = field(default=KEY_MAX, kw_only=True)
    concurrency: int | None = field(default=None, kw_only=True)
    spec: ProviderSpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_name("provider", self.name)
        if isinstance(self.key_max, bool) or self.key_max not in _KEY_MAX:
            raise DefinitionError(
                "bad-provider",
                f"{self.name}: key_max is {self.key_max!r}",
                remedy="Give a number from 36 to 255",
            )
        spec = ProviderSpec(
            name=self.name,
            key_life=self._seconds("key_life", zero=False),
            in_flight=self._seconds("in_flight"),
            visible_after=self._seconds("visible_after"),
            late_until=self._seconds("late_until"),
            replays_refusals=self.replays_refusals,
            replays_errors=self.replays_errors,
            key_max=self.key_max,
            concurrency=check_concurrency(self.name, self.concurrency),
        )
        if spec.late_until is not None and spec.late_until < (spec.in_flight or 0):
            raise DefinitionError(
                "bad-provider",
                f"{self.name}: a request is in_flight for longer than stragglers land (late_until)",
                remedy="late_until is the longer of the two",
            )
        object.__setattr__(self, "spec", spec)

    def _seconds(self, what: str, *, zero: bool = True) -> float | None:
        value = getattr(self, what)
        return None if value is None else seconds(value, f"{self.name}: {what}", zero=zero)


UNDECLARED = Provider("undeclared")

# Only the one thing it claims: repeating is harmless, for ever. Nothing about when an answer shows.
IDEMPOTENT = Provider("idempotent", key_life=timedelta(seconds=FOREVER))
"""The provider for "repeating under the same key is harmless"."""
