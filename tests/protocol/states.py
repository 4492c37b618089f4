"""A state of the model: the journal's part, the provider's, the processes', a person's.

A `State` is a frozen tuple that can be compared. Clocks are kept as ages or as times left, and they
stand still where no rule looks further, so that there is no horizon: a history may be as long as it
likes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from tests.protocol.names import Key
from tests.protocol.setting import Budget, Stop

__all__ = [
    "NOBODY",
    "NONE",
    "NOTHING_KEPT",
    "Action",
    "Again",
    "Call",
    "CaseKind",
    "Fate",
    "Kept",
    "Landing",
    "Look",
    "Message",
    "Phase",
    "Process",
    "Result",
    "Run",
    "Stage",
    "State",
    "Status",
]

NOBODY = -1  # owns the run
NONE = -1  # no receipt, no reading

Status = Literal["open", "landed", "refused", "not_sent", "absent", "accepted"]
CaseKind = Literal["", "unknown", "exhausted", "undo_refused", "undo_exhausted", "late"]
Result = Literal["landed", "refused", "not_sent", "unknown"]
Stage = Literal["ready", "cleared", "waiting", "answered"]
Fate = Literal["", "undone", "accepted"]
Phase = Literal["running", "compensating", "ended"]
Again = Literal["", "same", "new", "probe"]


class Run(NamedTuple):
    """The head of the run, and what the journal says of the run as a whole."""

    phase: Phase = "running"
    outcome: Literal["", "completed", "compensated", "settled"] = ""
    stop: Stop | None = None  # recorded; it takes effect when the rules say so
    fence: int = 0
    owner: int = NOBODY
    accepted: bool = False  # a person took something as it is


class Action(NamedTuple):
    """One row of `actions`.

    `open`: an attempt is in flight (the product's `sending`) or nobody waits for its answer any
    more (`unknown`); which of the two is in the memory of the owner, and a crash makes the first
    the second.
    """

    status: Status = "open"
    attempts: int = 0  # sendings so far; the number of the last one
    not_sent: int = 0  # attempts that provably did nothing, since a person last asked for another
    resends: int = 0  # sendings that repeated one not known to have failed, since then
    unsettled: tuple[int, ...] = ()  # attempts of which nobody knows what became
    since_send_by: int = 0  # age of the last moment a byte may leave; below 0: it is to come
    since_earliest: int = 0  # age of the earliest moment at which it can have landed
    since_absent: int = NONE  # age of the first counted reading of absence
    receipt: int = NONE  # which of the provider's landings is recorded
    reverses: int = NONE  # of an undo: the receipt that is frozen in its intent
    refused: bool = False  # some attempt was
    was_absent: bool = False  # some attempts are settled only by a proven absence
    case: CaseKind = ""  # the open one
    again: Again = ""  # what a person asked for
    others: tuple[int, ...] = ()  # receipts that are not the recorded one
    answered_for: bool = False  # a person has answered for an effect the run does not count on
    undone: bool = False  # taken back although nobody knows that it landed
    heard: int = 0  # the newest attempt of which its own process said that nobody knows
    watched: bool = False  # read until no straggler can come any more


class Landing(NamedTuple):
    """One effect at the provider. `fate` is the truth about it, which only the laws look at."""

    hidden: int  # ticks until a probe shows it
    broken: bool = False  # its request broke a promise: it stalled, or left after `send_by`
    fate: Fate = ""
    reported: bool = False


class Kept(NamedTuple):
    """What the provider keeps under one key."""

    landings: tuple[Landing, ...] = ()
    remembered: int = 0  # ticks for which a repeated request is still recognised
    refused: bool = False


NOTHING_KEPT = Kept()


class Call(NamedTuple):
    """A call in the memory of a process. `left`: ticks to `send_by`."""

    key: Key
    attempt: int
    stage: Stage
    left: int
    result: Result = "unknown"
    receipt: int = NONE


class Process(NamedTuple):
    """One orchestrator. Fence 0: it has no run. `memory`: see the seeded bug `no_version`."""

    fence: int = 0
    calls: tuple[Call, ...] = ()
    memory: tuple[tuple[Key, Action], ...] | None = None


class Message(NamedTuple):
    """A request on its way. `left`: ticks until it has landed or is lost."""

    key: Key
    attempt: int
    process: int
    left: int
    broken: bool = False
    stalled: bool = False


class Look(NamedTuple):
    """What a person saw of a case. `fresh`: the case has not changed since it was shown."""

    key: Key
    seen: int  # landings at the provider
    late_enough: bool  # after the last moment at which it could still arrive
    age: int = 0
    fresh: bool = True


class State(NamedTuple):
    """Everything, frozen. Two equal states have the same future."""

    run: Run
    actions: tuple[tuple[Key, Action], ...]
    ledger: tuple[tuple[Key, Kept], ...]
    messages: tuple[Message, ...]
    processes: tuple[Process, ...]
    look: Look | None
    budget: Budget
