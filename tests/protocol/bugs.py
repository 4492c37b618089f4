"""Seeded bugs: each is the protocol with one mistake that somebody will make one day.

`planted` says where each is looked for, and by which law it must be found.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.machine import Machine
from tests.protocol.moves import Move
from tests.protocol.names import Key
from tests.protocol.states import Action, Call, CaseKind, Look, Process, Result
from tests.protocol.world import World

__all__ = [
    "AbsenceBelievedAtOnce",
    "BlindResend",
    "CallIsNotCutOff",
    "CallsBeforeCommit",
    "CancelForgetsTheUnknown",
    "CancelReleases",
    "CannotSayIsAbsent",
    "ClaimWithoutNewFence",
    "DeadEndWithoutCase",
    "DoubtTakenForCommitted",
    "EndedRunIsReopened",
    "EvidenceIgnored",
    "FailureOfUndoIsLost",
    "FreshKeyOnRetry",
    "LifeCountsFromLastSending",
    "NoCheckOfSendBy",
    "NoFence",
    "NoLeaseCheck",
    "NoVersionCondition",
    "NotSentSettlesAllAttempts",
    "OldReadingCounts",
    "OneReadingIsEnough",
    "ResendAfterKeyLife",
    "StaleVerdictCounts",
    "UndoKeyMadeAtCallTime",
    "UndoWhileSuccessorUnknown",
    "UnknownIsFailed",
    "UnknownUndoIsDone",
    "WatchEndsAtOnce",
]


class FreshKeyOnRetry(Machine):
    """A retry makes a new key, so the provider cannot know it again."""

    def repeats_the_key(self, attempt: int) -> bool:
        return attempt == 1


class CallIsNotCutOff(Machine):
    """A call that was checked in time may still send its first byte at any time."""

    def leaves_until(self) -> int | None:
        return None


class NoCheckOfSendBy(Machine):
    """A call is started however old its record is."""

    def is_in_time(self, call: Call) -> bool:
        return True


class AbsenceBelievedAtOnce(Machine):
    """Absence counts from the start, while the request may be on its way."""

    def may_count_absence(self, action: Action) -> bool:
        return True


class OneReadingIsEnough(Machine):
    """One absence is proof, also from a provider that shows its effects late."""

    def has_first_reading(self, action: Action) -> bool:
        return True


class OldReadingCounts(Machine):
    """A reading from before the last sending is kept as the first of the two."""

    def send(self, w: World, p: int, key: Key) -> None:
        reading = w.actions[key].since_absent
        super().send(w, p, key)
        w.set_action(key, since_absent=reading)


class CannotSayIsAbsent(Machine):
    """An error of the probe is taken for "not there"."""

    takes_cannot_say_for_absent = True


class UnknownIsFailed(Machine):
    """A time-out is a failure."""

    def gave_no_answer(self, w: World, key: Key, attempt: int) -> None:
        w.set_action(key, status="refused", unsettled=())


class UnknownUndoIsDone(Machine):
    """A time-out of an undo is taken for success."""

    def gave_no_answer(self, w: World, key: Key, attempt: int) -> None:
        if key.undo:
            w.set_action(key, status="landed", unsettled=())


class ResendAfterKeyLife(Machine):
    """A key is taken to live for ever."""

    def is_in_life(self, action: Action) -> bool:
        return True


class LifeCountsFromLastSending(Machine):
    """Each resend starts the key's life anew."""

    def send(self, w: World, p: int, key: Key) -> None:
        super().send(w, p, key)
        w.set_action(key, since_earliest=0)


class BlindResend(Machine):
    """An unknown is sent again, whether keys are honoured or not."""

    def may_resend(self, w: World, key: Key, action: Action) -> bool:
        return action.resends < self.setting.attempts - 1


class UndoWhileSuccessorUnknown(Machine):
    """Undos start without waiting for what comes behind."""

    def undo_waits(self, *, clear_behind: bool) -> bool:
        return False


class CancelReleases(Machine):
    """After a cancel, what is unknown counts as settled."""

    def is_unsettled(self, w: World, action: Action) -> bool:
        return super().is_unsettled(w, action) and w.run.stop != "cancel"


class CancelForgetsTheUnknown(Machine):
    """After a cancel, nobody asks any more about what is unknown."""

    def unknown(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        if w.run.stop != "cancel":
            yield from super().unknown(w, p, key, action)


class DeadEndWithoutCase(Machine):
    """What nobody can settle is given up without telling a person."""

    def _opens_case(self, key: Key, kind: CaseKind) -> Move:
        return Move(f"gives up {key} in silence", lambda w: None)


class NotSentSettlesAllAttempts(Machine):
    """That the second attempt was not sent settles the first as well."""

    def left_after_not_sent(self, action: Action, attempt: int) -> tuple[int, ...]:
        return ()


class FailureOfUndoIsLost(Machine):
    """A refused undo is passed over."""

    def is_clear(self, w: World, step: int) -> tuple[bool, bool]:
        undo = w.undo_of(w.newest(step))
        failed = undo is not None and w.actions[undo].status == "refused"
        return (True, True) if failed else super().is_clear(w, step)


class UndoKeyMadeAtCallTime(Machine):
    """The undo's key is not written ahead: after a crash it is another one."""

    def unknown(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        if key.undo == 1:
            yield self._begins(p, key.renewed, action.reverses)
        else:
            yield from super().unknown(w, p, key, action)


class EndedRunIsReopened(Machine):
    """A late landing brings an ended run back."""

    def landed(self, w: World, key: Key, receipt: int) -> None:
        if w.run.outcome == "compensated" and not key.undo:
            w.set_run(phase="compensating", outcome="")
        super().landed(w, key, receipt)


class NoFence(Machine):
    """An owner that was taken for dead goes on writing."""

    def may_append(self, w: World, process: Process) -> bool:
        return process.fence > 0


class ClaimWithoutNewFence(Machine):
    """A claim does not raise the fence."""

    def fence_of_claim(self, fence: int) -> int:
        return 1


class NoLeaseCheck(Machine):
    """A call starts without a look at the lease."""

    def holds_lease(self, w: World, process: Process) -> bool:
        return True


class NoVersionCondition(Machine):
    """An owner writes what it remembers over what others have written."""

    checks_version = False


class CallsBeforeCommit(Machine):
    """The call is made first, and recorded afterwards."""

    commits_before_calling = False


class DoubtTakenForCommitted(Machine):
    """A COMMIT that returned an error is taken to have happened."""

    reads_after_doubt = False


class EvidenceIgnored(Machine):
    """What a process without its run still learns is thrown away."""

    def takes_evidence(self, result: Result) -> bool:
        return False


class StaleVerdictCounts(Machine):
    """A verdict counts although the case has changed since it was shown."""

    def binds(self, look: Look) -> bool:
        return True


class WatchEndsAtOnce(Machine):
    """The watch for stragglers is over before it has begun."""

    def watch_is_over(self, action: Action) -> bool:
        return True
