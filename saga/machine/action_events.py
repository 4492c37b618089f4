"""What has happened to an action: its intent, its attempts, what became of them."""

from __future__ import annotations

from typing import ClassVar

from saga.machine.facts import Error, Json, fact

__all__ = [
    "Absent",
    "Accepted",
    "ApprovalAsked",
    "Approved",
    "DecisionRefused",
    "Intended",
    "Landed",
    "LandedLate",
    "NotSent",
    "ProbeAsked",
    "Probed",
    "Refused",
    "Renewed",
    "Satisfied",
    "SecondEffect",
    "Sending",
    "Skipped",
    "Undone",
    "Unknown",
    "WaitBegun",
    "Watched",
]


@fact
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
    replaces: str | None  # of a second life: the key that is not used any more
    undo: str | None  # written ahead: contract of the compensation
    undo_key: str | None
    deadline_at: float | None


@fact
class WaitBegun:
    """A step that only waits has begun; `until` is when it is over by itself (unix seconds)."""

    kind: ClassVar[str] = "wait_begun"
    key: str
    until: float | None


@fact
class ApprovalAsked:
    """People must agree to the intent that record `version` has frozen, until `expires_at`.

    `source`, `reference` and `observation` (a hash) name what justified it.
    """

    kind: ClassVar[str] = "approval_asked"
    key: str
    version: int
    by: list[str]
    people: int
    scope: str
    policy: str
    source: str
    reference: str
    observation: str
    expires_at: float


@fact
class Approved:
    """One person has agreed to exactly this intent."""

    kind: ClassVar[str] = "approved"
    key: str
    actor: str
    reason: str


@fact
class DecisionRefused:
    """A person decided on an approval that was not open any more. It is kept, and counts for
    nothing. `why`: expired | used_up | decided | stopped.
    """

    kind: ClassVar[str] = "decision_refused"
    key: str
    actor: str
    approve: bool
    reason: str
    why: str


@fact
class Satisfied:
    """What was wanted is so already, by a current reading; this attempt has done nothing."""

    kind: ClassVar[str] = "satisfied"
    key: str
    attempt: int
    evidence: Json


@fact
class Sending:
    """One attempt may leave from now on and until `send_by`."""

    kind: ClassVar[str] = "sending"
    key: str
    attempt: int
    fence: int
    send_by: float
    threaded: bool  # a sync call: it cannot be cut off, its thread may go on after `send_by`


@fact
class Landed:
    """Proven to have happened. `attempt` is 0 where the proof is not the reply to an attempt.

    The receipt of a wait for a signal is on record with the signal, and `None` here.
    """

    kind: ClassVar[str] = "landed"
    key: str
    attempt: int
    receipt: Json
    source: str  # reply | probe | report | person; of a wait: signal | time


@fact
class Refused:
    """The provider said no. `settles` tells whether that speaks for all attempts under the key."""

    kind: ClassVar[str] = "refused"
    key: str
    attempt: int
    error: Error
    settles: bool
    due: float  # the earliest time of a new generation, where one may follow


@fact
class NotSent:
    """This attempt provably did nothing. `due` is the earliest time of the next one."""

    kind: ClassVar[str] = "not_sent"
    key: str
    attempt: int
    error: Error
    due: float


@fact
class Unknown:
    """Nobody can say what became of this attempt. `running`: its call has not even returned."""

    kind: ClassVar[str] = "unknown"
    key: str
    attempt: int
    error: Error
    running: bool
    until: float  # the last moment a byte of it could leave, if it is not running
    conflict: bool
    interrupted: str  # crash | shutdown: it ended with its process, not by itself
    repeats: bool  # the provider gave the same error before, for another attempt under the key
    due: float


@fact
class Probed:
    """A probe that settled nothing. `counted`: an absence read late enough to count as evidence.

    `spent`: it uses up one of the answers that the retry policy allows.
    """

    kind: ClassVar[str] = "probed"
    key: str
    answer: str  # absent | in_progress | cannot_say
    started: float
    counted: bool
    spent: bool
    reason: str
    due: float


@fact
class Absent:
    """Settled as not having happened. `again`: how it may be sent again (same | new | no).

    `watch`: the time at which it is read a last time, when no straggler can land any more.
    """

    kind: ClassVar[str] = "absent"
    key: str
    source: str  # probe | person | undo
    read_at: float
    again: str
    watch: float | None


@fact
class Watched:
    """The last reading of an action that was settled as absent: no straggler has landed."""

    kind: ClassVar[str] = "watched"
    key: str
    read_at: float


@fact
class LandedLate:
    """Found to have happened after the run had gone on without it: it is undone by itself."""

    kind: ClassVar[str] = "landed_late"
    key: str
    receipt: Json
    source: str  # reply | probe | report


@fact
class Skipped:
    """An optional step did not happen and will not; the run goes on without it."""

    kind: ClassVar[str] = "skipped"
    key: str
    reason: str  # why it is not tried again


@fact
class SecondEffect:
    """A receipt that the run does not count on: not the recorded one, or of what was settled."""

    kind: ClassVar[str] = "second_effect"
    key: str
    receipt: Json
    source: str


@fact
class ProbeAsked:
    """A person wants the provider to be asked now."""

    kind: ClassVar[str] = "probe_asked"
    key: str


@fact
class Renewed:
    """A person wants it sent again, counting from zero; under the same key or a new generation."""

    kind: ClassVar[str] = "renewed"
    key: str
    again: str  # same | new
    read_at: float  # nothing had landed by then, as this person has seen
    deadline_at: float | None  # of an undo: its time starts anew too


@fact
class Accepted:
    """A person takes the action as it is; nothing more is done about it."""

    kind: ClassVar[str] = "accepted"
    key: str


@fact
class Undone:
    """A person says that it has been taken back, with evidence. Counts as a landed undo."""

    kind: ClassVar[str] = "undone"
    key: str
    evidence: str
    watch: float | None  # as in `Absent`
