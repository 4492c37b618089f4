"""A run in memory: read once when it is claimed, then kept for as long as we own it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from saga.definition.spec import StepSpec
from saga.journal.append import Append
from saga.journal.history import History
from saga.machine.state import Action, RunState
from saga.orchestrator.compiled import CompiledSaga, Side
from saga.orchestrator.letters import Letter

__all__ = ["Due", "Held", "Outgoing", "held"]


class Outgoing(NamedTuple):
    """A call that may be made as soon as the record that holds its sending is durable."""

    key: str
    attempt: int
    send_by: float  # unix seconds, as recorded
    cut_off: float  # the same moment on our monotonic clock, counted from before the commit
    deadline: float  # and on this machine's own clock, right or wrong: what user code can look at


@dataclass(slots=True)
class Due:
    """A call that is due: of which step, or alternative of one, in which direction.

    `action` is the one to send again, or the generation before the one to begin.
    """

    step: StepSpec
    side: Side
    direction: str
    action: Action | None


@dataclass(slots=True)
class Held:
    """One run that we own. `writing` is the append under way: at most one at a time, in order."""

    saga: CompiledSaga
    state: RunState
    version: int
    seal: str
    fence: int
    at: float  # time of the last record; ours never go back
    due: float | None  # as it is stored
    mailbox: list[Letter] = field(default_factory=list)
    writing: Append | None = None
    letters: list[Letter] = field(
        default_factory=list
    )  # what `writing` answers, if it must be redone
    outgoing: list[Outgoing] = field(default_factory=list)
    calls: set[tuple[str, int]] = field(default_factory=set)  # in flight, or still in a thread
    probes: set[str] = field(default_factory=set)
    to_ask: list[str] = field(default_factory=list)  # probes to make once `writing` is durable
    look_at: float | None = None  # the next due time
    cut_off: float = 0.0  # the earliest `send_by` of the calls that the last record began
    stale: bool = False  # it is being read again
    refusals: int = 0  # how often it could not be recorded, one after the other
    refusal: str = ""  # what it said the last time
    again_at: float = 0.0  # when it is tried again
    leaving: bool = False  # `writing` gives the run back
    more: bool = False  # something that is due did not fit into `writing`
    one_by_one: bool = False  # its results do not fit one record together
    news: list[str] = field(default_factory=list)  # to be logged once `writing` is durable

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.state.run_id

    @property
    def busy(self) -> bool:
        """Whether anything of it is under way here."""
        return bool(self.writing or self.stale or self.mailbox or self.calls or self.probes)

    @property
    def left_behind(self) -> list[str]:
        """The keys of what is in flight, or still in a thread, by what is recorded."""
        asked = self.state.spending.asking if self.state.spending is not None else ()
        sent = [
            action.key
            for action in self.state.active.values()
            if any(attempt.in_flight or attempt.running for attempt in action.open.values())
        ]
        return sorted({*asked, *sent})

    def unmade(self) -> list[tuple[str, int]]:
        """The sendings of a failed append that are on record all the same, as attempts.

        The commit was in doubt, and their calls never began. That is known of our own only: what a
        dead owner had in flight may have landed.
        """
        return [
            (one.key, one.attempt)
            for one in self.outgoing
            if (action := self.state.actions.get(one.key)) is not None
            and (attempt := action.open.get(one.attempt)) is not None
            and attempt.in_flight
        ]


def held(saga: CompiledSaga, history: History, fence: int) -> Held:
    """A verified history as a run that we own under `fence`."""
    return Held(
        saga=saga,
        state=history.state,
        version=history.version,
        seal=history.seal,
        fence=fence,
        at=history.at,
        due=history.due,
    )
