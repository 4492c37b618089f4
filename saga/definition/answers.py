"""What a function of an effect may answer, besides its receipt.

Three exceptions say what became of the call; three values answer a probe. Everything that is not
declared (any other exception, a time-out, an unreadable reply) is `Unknown`: it is never taken for
a failure and never resent blindly.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import BaseModel

__all__ = ["Absent", "CannotSay", "InProgress", "NotSent", "Refused", "Satisfied", "Unknown"]


class Refused(Exception):
    """The other side said no, for good: nothing happened and nothing will, because of this call.

    Raise it from an effect's or a compensation's function. A refused effect makes the run wind
    down; a refused undo opens a case.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class NotSent(Exception):
    """Provably nothing happened because of this attempt; it may be tried again.

    `retry_after` is the earliest moment of the next attempt: a `timedelta`, seconds, or an aware
    `datetime`. It says nothing about attempts before this one.
    """

    def __init__(
        self, reason: str = "", *, retry_after: timedelta | datetime | float | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class Unknown(Exception):
    """Nobody can say whether it happened. The same as any exception that is not declared."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Satisfied:
    """What was wanted is so already: this call has changed nothing, and `evidence` shows it.

    Return it from an effect's function instead of a receipt. The evidence is a model: a current
    reading of the target, not an old receipt. Nothing is undone, and no later step can use a
    receipt of this one. After an attempt that nobody knows the end of it settles nothing, since
    that one may be what made it so.
    """

    evidence: BaseModel


@dataclass(frozen=True, slots=True)
class Absent:
    """A probe's answer: the provider knows no action under this key at this moment.

    One such answer settles nothing; see the provider's `in_flight` and `visible_after`.
    """


@dataclass(frozen=True, slots=True)
class InProgress:
    """A probe's answer: accepted, not finished."""


@dataclass(frozen=True, slots=True)
class CannotSay:
    """A probe's answer: the provider cannot be asked now, or does not know."""

    reason: str = ""


# They are shown to people in cases and errors under the name by which people import them.
for _public in (Refused, NotSent, Unknown):
    _public.__module__ = "saga"
