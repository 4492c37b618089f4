"""One transition: who makes it, what it is called, what it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from tests.protocol.names import Key
from tests.protocol.states import NONE
from tests.protocol.world import World

__all__ = ["Kind", "Move", "Record"]

Kind = Literal["own", "time", "outside", "fault"]


class Record(NamedTuple):
    """What a move asks the journal for, by the name of the product's command.

    `result`: of an attempt, of a probe, of a person (the verdict); of `wake`, the kind of the case.
    """

    command: Literal[
        "intend", "send", "reply", "probe", "lost", "wake", "cancel", "report", "resolve"
    ]
    key: Key | None = None
    attempt: int = 0
    result: str = ""
    receipt: int = NONE


class Move(NamedTuple):
    """`own` moves happen sooner or later; `outside` and `fault` ones may happen or not.

    `urgent`: a live owner does it at once; only a slow one (budget) lets a tick pass before it.
    """

    label: str
    change: Callable[[World], object]
    kind: Kind = "own"
    urgent: bool = False
    record: Record | None = None

    @property
    def sends(self) -> bool:
        """A sending is committed, and a call follows."""
        return self.record is not None and self.record.command in ("intend", "send")
