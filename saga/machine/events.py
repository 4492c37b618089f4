"""What has happened to a run. Events are facts: they are stored, sealed and never decided again.

The events of one transition are one journal record and share its time, which is therefore not a
field here. Everything that a later reader needs in order to come to the same state is in the
event: due times too, since retries may be tuned between two records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar, dataclass_transform, get_args

__all__ = [
    "EVENTS",
    "Absent",
    "Accepted",
    "CancelRecorded",
    "CaseClosed",
    "CaseOpened",
    "DeadlinePassed",
    "Ended",
    "Error",
    "Event",
    "Intended",
    "Json",
    "Landed",
    "NotSent",
    "ProbeAsked",
    "Probed",
    "Refused",
    "Renewed",
    "SecondEffect",
    "Sending",
    "Started",
    "Undone",
    "Unknown",
    "WindingDown",
]

Json: TypeAlias = Any
Error: TypeAlias = dict[str, Any]  # {type, text, leaves}: plain text, 2 KB in all

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _fact(shape: type[_T]) -> type[_T]:
    # Frozen for whoever checks types: at run time that would triple what making one costs.
    return dataclass(unsafe_hash=True, slots=True, kw_only=True)(shape)


@_fact
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


@_fact
class Intended:
    """An action is frozen: arguments, target, digest, key; the key of its undo is written ahead."""

    kind: ClassVar[str] = "intended"
    key: str
    step: str
    item: str | None
    direction: str
    generation: int
    effect: str
    effect_version: int
    target: str
    digest: str
    args: Json
    of_key: str | None  # of an undo: the action that it reverses
    undo: str | None  # written ahead: contract of the compensation
    undo_key: str | None
    deadline_at: float | None


@_fact
class Sending:
    """One attempt may leave from now on and until `send_by`."""

    kind: ClassVar[str] = "sending"
    key: str
    attempt: int
    fence: int
    send_by: float
    threaded: bool  # a sync call: it cannot be cut off, its thread may go on after `send_by`


@_fact
class Landed:
    """Proven to have happened. `attempt` is 0 where the proof is not the reply to an attempt."""

    kind: ClassVar[str] = "landed"
    key: str
    attempt: int
    receipt: Json
    source: str  # reply | probe | report | person


@_fact
class Refused:
    """The provider said no. `settles` tells whether that speaks for all attempts under the key."""

    kind: ClassVar[str] = "refused"
    key: str
    attempt: int
    error: Error
    settles: bool


@_fact
class NotSent:
    """This attempt provably did nothing. `due` is the earliest time of the next one."""

    kind: ClassVar[str] = "not_sent"
    key: str
    attempt: int
    error: Error
    due: float


@_fact
class Unknown:
    """Nobody can say what became of this attempt. `running`: its call has not even returned."""

    kind: ClassVar[str] = "unknown"
    key: str
    attempt: int
    error: Error
    running: bool
    until: float  # the last moment a byte of it could leave, if it is not running
    conflict: bool
    due: float


@_fact
class Probed:
    """A probe that settled nothing. `counted`: an absence read late enough to count as evidence."""

    kind: ClassVar[str] = "probed"
    key: str
    answer: str  # absent | in_progress | cannot_say
    started: float
    counted: bool
    reason: str
    due: float


@_fact
class Absent:
    """Settled as not having happened. `again`: how it may be sent again (same | new | no)."""

    kind: ClassVar[str] = "absent"
    key: str
    source: str  # probe | person | undo
    read_at: float
    again: str


@_fact
class SecondEffect:
    """A receipt that the run does not count on: not the recorded one, or of what was settled."""

    kind: ClassVar[str] = "second_effect"
    key: str
    receipt: Json
    source: str


@_fact
class ProbeAsked:
    """A person wants the provider to be asked now."""

    kind: ClassVar[str] = "probe_asked"
    key: str


@_fact
class Renewed:
    """A person wants it sent again, counting from zero; under the same key or a new generation."""

    kind: ClassVar[str] = "renewed"
    key: str
    again: str  # same | new
    read_at: float  # nothing had landed by then, as this person has seen
    deadline_at: float | None  # of an undo: its time starts anew too


@_fact
class Accepted:
    """A person takes the action as it is; nothing more is done about it."""

    kind: ClassVar[str] = "accepted"
    key: str


@_fact
class Undone:
    """A person says that it has been taken back, with evidence. Counts as a landed undo."""

    kind: ClassVar[str] = "undone"
    key: str
    evidence: str


@_fact
class CancelRecorded:
    kind: ClassVar[str] = "cancel_recorded"
    reason: str
    actor: str | None


@_fact
class DeadlinePassed:
    kind: ClassVar[str] = "deadline_passed"


@_fact
class WindingDown:
    """From here on the run is being undone. The first cause; later ones do not replace it."""

    kind: ClassVar[str] = "winding_down"
    cause: str  # refused | attempts | cancelled | deadline | person
    step: str | None
    error: Error | None


@_fact
class CaseOpened:
    """Something that no machine can settle; a person must."""

    kind: ClassVar[str] = "case_opened"
    case: str
    key: str
    case_kind: str
    text: str
    error: Error | None


@_fact
class CaseClosed:
    """By a person's verdict, or by evidence that settled the action (then `verdict` is None)."""

    kind: ClassVar[str] = "case_closed"
    case: str
    verdict: str | None
    actor: str | None
    reason: str
    evidence: str | None
    looked_at: float | None


@_fact
class Ended:
    kind: ClassVar[str] = "ended"
    outcome: str


Event: TypeAlias = (
    Started
    | Intended
    | Sending
    | Landed
    | Refused
    | NotSent
    | Unknown
    | Probed
    | Absent
    | SecondEffect
    | ProbeAsked
    | Renewed
    | Accepted
    | Undone
    | CancelRecorded
    | DeadlinePassed
    | WindingDown
    | CaseOpened
    | CaseClosed
    | Ended
)

EVENTS: dict[str, type[Event]] = {event.kind: event for event in get_args(Event)}
