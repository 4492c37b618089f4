"""What may come next for one action, and when: the answer of `saga.machine.ways`."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

__all__ = ["LEAVING", "Move", "Next"]


class Next(Enum):
    """What comes next for an action."""

    WAIT = auto()  # a step that only waits, or for an approval, at most until `at`
    AWAIT = auto()  # a call is in flight (`at` is its `send_by`), or has still not returned
    SEND = auto()  # one more attempt under its key
    PROBE = auto()  # ask by key
    RENEW = auto()  # a new generation, by policy or a person's word
    INSTEAD = auto()  # the next alternative of a step that did not happen and will not
    BLIND = auto()  # unknown for good: undo it without a receipt
    SKIP = auto()  # an optional step that did not happen and will not
    FAIL = auto()  # a forward action that did not happen and will not: the run winds down
    GIVE_UP = auto()  # a person's turn


LEAVING = (Next.SEND, Next.RENEW, Next.INSTEAD)  # something new is sent


class Move(NamedTuple):
    """`at` is the earliest time (unix seconds); `why` a cause (FAIL) or a case kind (GIVE_UP)."""

    next: Next
    at: float
    why: str = ""
