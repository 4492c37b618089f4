"""Where an orchestrator meets the rest of the world: its transactions, its calls, its probes.

Each of them is a fault point. A seam counts them, and at one of them it strikes: the process dies
there, a request or a reply is lost, somebody cancels, or the process sleeps while another takes
over. After its death a process reaches nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from saga.definition.calls import Call, Undo
from saga.testing.outside import Fate

__all__ = ["Crash", "Fault", "Kind", "Point", "Seam", "Strike", "name_of"]


_QUIET = 40  # after so many transactions in which nothing happens, a life comes to no rest
_POINTS = 2000  # and after so many fault points, whatever happens at them


class Crash(KeyboardInterrupt):
    """The process is gone at this instruction.

    A KeyboardInterrupt, since an event loop lets nothing else out of a callback at once.
    """


class Kind(StrEnum):
    """What happens at a fault point."""

    TRANSACTION = "transaction"
    CALL = "call"
    PROBE = "probe"


class Strike(StrEnum):
    """What goes wrong at a fault point."""

    BEFORE = "dies before it"
    UNCOMMITTED = "dies before its commit"
    COMMITTED = "dies after its commit"
    REFUSED = "its commit fails"
    DOUBTED = "its commit succeeds and reports an error"
    UNSENT = "dies before the request"
    LOST = "the request is lost"
    LATE = "the request is late"
    UNANSWERED = "the reply is lost"
    UNRECORDED = "dies before the reply is recorded"
    CANCELLED = "somebody cancels"
    SIGNALLED = "somebody signals"
    OVERTAKEN = "sleeps before it, another does the rest"
    CLAIMED = "sleeps before it, another claims and dies"
    NAPS = "sleeps after its commit, and wakes in time"
    OVERSLEPT = "sleeps after its commit, another does the rest"


_DEADLY = {
    Strike.BEFORE,
    Strike.UNCOMMITTED,
    Strike.COMMITTED,
    Strike.UNSENT,
    Strike.UNRECORDED,
}


_DOUBTS = {Strike.REFUSED, Strike.DOUBTED}


@dataclass(frozen=True, slots=True)
class Point:
    """A fault point of one life."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, at the fault point number `at`."""

    at: int
    strike: Strike


class Seam:
    """One life of a process. `died` is called at the instant of its death.

    `struck`: something went wrong, and it lives on. `restless`: it would go on for ever.
    """

    def __init__(self, fault: Fault | None, died: Callable[[], None]) -> None:
        self.points: list[Point] = []
        self.dead = False
        self.struck = False
        self.restless = False
        self.quiet = 0  # transactions since something has happened
        self._fault = fault
        self._died = died
        self._numbers = dict.fromkeys(Kind, 0)
        self._passing: dict[str, Fate] = {}

    def arrive(self, kind: Kind, name: str = "") -> Strike | None:
        """A fault point is reached; what goes wrong there."""
        if self.dead:
            raise Crash
        self.quiet = self.quiet + 1 if kind is Kind.TRANSACTION else 0
        if self.quiet > _QUIET or len(self.points) >= _POINTS:
            self.dead = self.restless = True
            raise Crash
        self._numbers[kind] += 1
        self.points.append(Point(kind, f"{self._numbers[kind]} {name}".rstrip()))
        if self._fault is None or self._fault.at != len(self.points) - 1:
            return None
        self.struck = self._fault.strike not in _DEADLY
        return self._fault.strike

    def die(self) -> NoReturn:
        """From here on nothing that this process does has any effect."""
        self.end()
        raise Crash

    def end(self) -> None:
        """It has ended."""
        self._died()
        self.dead = True

    @property
    def doubted(self) -> bool:
        """A commit has returned an error: a process may end with it."""
        return self.struck and self._fault is not None and self._fault.strike in _DOUBTS

    def announce(self, call: Call[Any], fate: Fate) -> None:
        """This call comes the one way to a call."""
        self._passing[call.key] = fate

    def over(self, call: Call[Any]) -> None:
        """It is over."""
        self._passing.pop(call.key, None)

    def passing(self, call: Call[Any]) -> Fate | None:
        """What becomes of a call that was announced; `None` for any other."""
        return self._passing.get(call.key)


def name_of(call: Call[Any]) -> str:
    """A call in words."""
    return f"undo of {call.step}" if isinstance(call, Undo) else call.step
