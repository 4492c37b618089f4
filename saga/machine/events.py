"""What has happened to a run. Events are facts: they are stored, sealed and never decided again.

The events of one transition are one journal record and share its time, which is therefore not a
field here. Everything that a later reader needs in order to come to the same state is in the
event: due times too, since retries may be tuned between two records.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias, get_args

from saga.machine.action_events import (
    Absent,
    Accepted,
    ApprovalAsked,
    Approved,
    DecisionRefused,
    Intended,
    Landed,
    LandedLate,
    NotSent,
    ProbeAsked,
    Probed,
    Refused,
    Renewed,
    Satisfied,
    SecondEffect,
    Sending,
    Skipped,
    Undone,
    Unknown,
    WaitBegun,
    Watched,
)
from saga.machine.budget_events import BudgetRaised, ProbeBegun, ProbeEnded
from saga.machine.facts import Error, Json, fact

__all__ = [
    "EVENTS",
    "CancelRecorded",
    "CaseClosed",
    "CaseOpened",
    "CasesOutdated",
    "DeadlinePassed",
    "Ended",
    "Event",
    "Parked",
    "PathTaken",
    "Signalled",
    "Spread",
    "Started",
    "TurnAsked",
    "TurnTaken",
    "TurnedBack",
    "WindingDown",
]


@fact
class Started:
    """Somebody asked for a run. The journal's first record; it holds the input."""

    kind: ClassVar[str] = "started"
    run_id: str
    instance: str
    tenant: str
    saga: str
    saga_version: int
    definition: str  # digest of the definition that the run is pinned to
    input: Json
    deadline_at: float | None
    actor: str | None
    resource: str | None  # what it is exclusive about


@fact
class TurnTaken:
    """No other run of its resource goes forward until this one has ended or is parked."""

    kind: ClassVar[str] = "turn_taken"


@fact
class Parked:
    """Its turn was given to others while it waits for a person; it goes forward no more."""

    kind: ClassVar[str] = "parked"
    reason: str
    actor: str | None


@fact
class TurnAsked:
    """The last case of a parked run is closed: it stands in line for its resource again."""

    kind: ClassVar[str] = "turn_asked"


@fact
class Signalled:
    """Somebody has brought what a wait waits for, under a message id; kept until it is needed."""

    kind: ClassVar[str] = "signalled"
    step: str
    message: str
    payload: Json
    actor: str | None


@fact
class Spread:
    """The list that an `Each` goes over was looked at: it has so many items, each with its key."""

    kind: ClassVar[str] = "spread"
    step: str
    items: int


@fact
class CancelRecorded:
    kind: ClassVar[str] = "cancel_recorded"
    reason: str
    actor: str | None


@fact
class DeadlinePassed:
    kind: ClassVar[str] = "deadline_passed"


@fact
class WindingDown:
    """From here on the run is being undone. The first cause; later ones do not replace it."""

    kind: ClassVar[str] = "winding_down"
    cause: str  # refused | attempts | cancelled | deadline | person
    step: str | None
    error: Error | None
    reason: str  # why the step is not tried again, or what a person said
    actor: str | None  # who has cancelled it, or decided so


@fact
class TurnedBack:
    """What has landed behind a savepoint is being undone, since a step there failed for good."""

    kind: ClassVar[str] = "turned_back"
    savepoint: str
    cause: str  # refused | attempts | deadline
    step: str
    error: Error | None
    reason: str  # why the step is not tried again


@fact
class PathTaken:
    """Nothing behind a savepoint stands any more: the run takes the other path."""

    kind: ClassVar[str] = "path_taken"
    savepoint: str


@fact
class CaseOpened:
    """Something that no machine can settle; a person must."""

    kind: ClassVar[str] = "case_opened"
    case: str
    key: str
    case_kind: str
    text: str
    error: Error | None


@fact
class CaseClosed:
    """By a person's verdict, or by evidence that settled the action (then `verdict` is None)."""

    kind: ClassVar[str] = "case_closed"
    case: str
    verdict: str | None
    actor: str | None
    reason: str
    evidence: str | None
    looked_at: float | None


@fact
class CasesOutdated:
    """The run has turned, so verdicts on the cases that are open mean something else from now on:
    whoever was shown one before must look at it again.
    """

    kind: ClassVar[str] = "cases_outdated"


@fact
class Ended:
    kind: ClassVar[str] = "ended"
    outcome: str


Event: TypeAlias = (
    Started
    | Intended
    | WaitBegun
    | ApprovalAsked
    | Approved
    | DecisionRefused
    | Satisfied
    | Sending
    | Landed
    | Refused
    | NotSent
    | Unknown
    | Probed
    | Absent
    | Watched
    | LandedLate
    | Skipped
    | SecondEffect
    | ProbeAsked
    | Renewed
    | Accepted
    | Undone
    | ProbeBegun
    | ProbeEnded
    | BudgetRaised
    | TurnTaken
    | Parked
    | TurnAsked
    | Signalled
    | Spread
    | CancelRecorded
    | DeadlinePassed
    | WindingDown
    | TurnedBack
    | PathTaken
    | CaseOpened
    | CaseClosed
    | CasesOutdated
    | Ended
)

EVENTS: dict[str, type[Event]] = {event.kind: event for event in get_args(Event)}
