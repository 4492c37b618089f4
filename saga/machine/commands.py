"""What may be asked of a run. Every command carries the time at which it is decided.

Some come only from the owner (`Intend`, `Send`, `BeginProbe`, `Reply` of its own calls, `Probed`,
`Lost`, `Wake`, `TakeTurn`), the others from anybody. `decide` answers each of them in every state,
with events or with a `Rejected` that has a stable name and a sentence for the reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from saga.machine.facts import Error, Json, fact

__all__ = [
    "BeginProbe",
    "Cancel",
    "Command",
    "Decide",
    "Intend",
    "Lost",
    "Park",
    "ProbeAnswer",
    "Rejected",
    "Rejection",
    "Reply",
    "Report",
    "Resolve",
    "Send",
    "Signal",
    "Start",
    "TakeTurn",
    "Unfreezable",
    "Wake",
    "name_of",
]


@fact
class Start:
    at: float
    run_id: str
    instance: str
    tenant: str
    input: Json
    actor: str | None
    resource: str | None = None  # what the run is exclusive about
    free: bool = False  # nobody has the turn, or waits for it


@fact
class TakeTurn:
    """The run is ours, and nobody else has the turn that it waits for."""

    at: float


@fact
class Park:
    """A person lets others have the turn of a run that has an open case."""

    at: float
    reason: str
    actor: str | None


@fact
class Intend:
    """Freeze an action and send it. `digest` covers contract, target, arguments and receipt.

    `of_key`: the action that it reverses; `None` for one that goes forward.
    """

    at: float
    fence: int
    step: int
    of_key: str | None
    generation: int
    target: str
    digest: str
    args: Json
    threaded: bool
    version: int = 0  # of the record that freezes it: an approval binds to that
    item: str | None = None
    choice: int = 0  # of an alternative: which one, from 1 on


@fact
class Unfreezable:
    """The arguments of an action that is due cannot be frozen: too large, not valid, no target."""

    at: float
    step: int
    of_key: str | None
    generation: int
    error: Error
    item: str | None = None
    choice: int = 0


@fact
class Send:
    """One more attempt at an intent, under its key."""

    at: float
    fence: int
    key: str
    threaded: bool


@fact
class BeginProbe:
    """Ask the provider by key: recorded before it is done, where a budget counts calls."""

    at: float
    key: str


@fact
class Reply:
    """What became of an attempt: `landed`, `satisfied`, `refused`, `not_sent` or `unknown`."""

    at: float
    key: str
    attempt: int
    result: str
    receipt: Json = None
    error: Error | None = None
    retry_after: float | None = None  # seconds
    running: bool = False  # unknown, and its call has not returned yet
    interrupted: bool = False  # unknown, since its process stops and has cut it off
    conflict: bool = False  # unknown, since the key is taken by another body


@fact
class ProbeAnswer:
    """What the provider said when asked by key: `landed`, `absent`, `in_progress`, `cannot_say`."""

    at: float
    key: str
    started: float
    answer: str
    receipt: Json = None
    reason: str = ""


@fact
class Lost:
    """The owner that made the calls is gone; what was in flight is unknown.

    `keys`: of these actions only, so that a record holds what becomes of them; `None`: of all.
    """

    at: float
    keys: frozenset[str] | None = None


@fact
class Wake:
    """Time has passed: deadlines, attempts that are used up, cases that are due."""

    at: float


@fact
class Signal:
    """What a wait waits for. The same message is taken once, however often it comes."""

    at: float
    wait: str
    message: str
    payload: Json
    actor: str | None


@fact
class Decide:
    """A person approves or refuses a step, bound to the frozen intent that was shown."""

    at: float
    step: str
    approve: bool
    version: int
    digest: str
    actor: str
    reason: str


@fact
class Cancel:
    at: float
    reason: str
    actor: str | None


@fact
class Report:
    """Evidence that arrives by another way. From anybody that it landed, with the receipt; from the
    process that made the call also that its own attempt was refused or not sent.
    """

    at: float
    key: str
    digest: str
    attempt: int
    result: str = "landed"
    receipt: Json = None
    error: Error | None = None


@fact
class Resolve:
    """A person's verdict on an open case, bound to the version of the case that was shown."""

    at: float
    case: str
    verdict: str
    actor: str
    reason: str
    case_version: int
    looked_at: float
    receipt: Json = None
    evidence: str | None = None


Command: TypeAlias = (
    Start
    | Intend
    | Unfreezable
    | Send
    | BeginProbe
    | Reply
    | ProbeAnswer
    | Lost
    | Wake
    | Signal
    | Decide
    | Cancel
    | Report
    | Resolve
    | TakeTurn
    | Park
)

_NAMES: dict[type[Command], str] = {
    Start: "start",
    Intend: "intend",
    Unfreezable: "unfreezable",
    Send: "send",
    BeginProbe: "begin_probe",
    Reply: "reply",
    ProbeAnswer: "probe",
    Lost: "lost",
    Wake: "wake",
    Signal: "signal",
    Decide: "decide",
    Cancel: "cancel",
    Report: "report",
    Resolve: "resolve",
    TakeTurn: "take_turn",
    Park: "park",
}


def name_of(command: Command) -> str:
    """The name under which the journal lists a command."""
    return _NAMES[type(command)]


class Rejection(StrEnum):
    """Why a command is turned down. A rejection is an answer, not an error."""

    NOT_STARTED = "not_started"
    ALREADY_STARTED = "already_started"
    ENDED = "ended"
    WINDING_DOWN = "winding_down"
    POINT_OF_NO_RETURN = "point_of_no_return"
    NOT_DUE = "not_due"
    NOTHING_DUE = "nothing_due"
    UNKNOWN_ACTION = "unknown_action"
    STALE_ATTEMPT = "stale_attempt"
    NOTHING_NEW = "nothing_new"
    WRONG_DIGEST = "wrong_digest"
    UNKNOWN_CASE = "unknown_case"
    CASE_CLOSED = "case_closed"
    STALE_CASE = "stale_case"
    TOO_EARLY = "too_early"
    NOT_LOOKED = "not_looked"
    NOT_POSSIBLE = "not_possible"
    NEEDS_RECEIPT = "needs_receipt"
    NEEDS_EVIDENCE = "needs_evidence"


@dataclass(frozen=True, slots=True)
class Rejected:
    reason: Rejection
    text: str
