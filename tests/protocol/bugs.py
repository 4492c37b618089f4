"""Seeded bugs: each is the protocol with one mistake that somebody will make one day.

A model that finds no bug proves nothing. Every bug here must be found, by the law that names it, in
a setting in which all laws hold without the bug.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.protocol.machine import Machine
from tests.protocol.moves import Move
from tests.protocol.names import Key
from tests.protocol.part_two import PartTwo
from tests.protocol.setting import Budget, Setting
from tests.protocol.states import Action, Call, CaseKind, Look, Process, Result
from tests.protocol.trial import Trial
from tests.protocol.world import World

__all__ = ["BUGS"]


class FreshKeyOnRetry(Machine):
    def repeats_the_key(self, attempt: int) -> bool:
        return attempt == 1


class CallIsNotCutOff(Machine):
    def leaves_until(self) -> int | None:
        return None


class NoCheckOfSendBy(Machine):
    def is_in_time(self, call: Call) -> bool:
        return True


class AbsenceBelievedAtOnce(Machine):
    def may_count_absence(self, action: Action) -> bool:
        return True


class OneReadingIsEnough(Machine):
    def has_first_reading(self, action: Action) -> bool:
        return True


class OldReadingCounts(Machine):
    def send(self, w: World, p: int, key: Key) -> None:
        reading = w.actions[key].since_absent
        super().send(w, p, key)
        w.set_action(key, since_absent=reading)


class CannotSayIsAbsent(Machine):
    takes_cannot_say_for_absent = True


class UnknownIsFailed(Machine):
    def gave_no_answer(self, w: World, key: Key, attempt: int) -> None:
        w.set_action(key, status="refused", unsettled=())


class UnknownUndoIsDone(Machine):
    def gave_no_answer(self, w: World, key: Key, attempt: int) -> None:
        if key.undo:
            w.set_action(key, status="landed", unsettled=())


class ResendAfterKeyLife(Machine):
    def is_in_life(self, action: Action) -> bool:
        return True


class LifeCountsFromLastSending(Machine):
    def send(self, w: World, p: int, key: Key) -> None:
        super().send(w, p, key)
        w.set_action(key, since_earliest=0)


class BlindResend(Machine):
    def may_resend(self, w: World, key: Key, action: Action) -> bool:
        return action.resends < self.setting.attempts - 1


class UndoWhileSuccessorUnknown(Machine):
    def undo_waits(self, *, clear_behind: bool) -> bool:
        return False


class CancelReleases(Machine):
    def is_unsettled(self, w: World, action: Action) -> bool:
        return super().is_unsettled(w, action) and w.run.stop != "cancel"


class CancelForgetsTheUnknown(Machine):
    def unknown(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        if w.run.stop != "cancel":
            yield from super().unknown(w, p, key, action)


class DeadEndWithoutCase(Machine):
    def _opens_case(self, key: Key, kind: CaseKind) -> Move:
        return Move(f"gives up {key} in silence", lambda w: None)


class NotSentSettlesAllAttempts(Machine):
    def left_after_not_sent(self, action: Action, attempt: int) -> tuple[int, ...]:
        return ()


class FailureOfUndoIsLost(Machine):
    def is_clear(self, w: World, step: int) -> tuple[bool, bool]:
        undo = w.undo_of(w.newest(step))
        failed = undo is not None and w.actions[undo].status == "refused"
        return (True, True) if failed else super().is_clear(w, step)


class UndoKeyMadeAtCallTime(Machine):
    def unknown(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        if key.undo == 1:
            yield self._begins(p, key.renewed, action.reverses)
        else:
            yield from super().unknown(w, p, key, action)


class EndedRunIsReopened(Machine):
    def landed(self, w: World, key: Key, receipt: int) -> None:
        if w.run.outcome == "compensated" and not key.undo:
            w.set_run(phase="compensating", outcome="")
        super().landed(w, key, receipt)


class NoFence(Machine):
    def may_append(self, w: World, process: Process) -> bool:
        return process.fence > 0


class ClaimWithoutNewFence(Machine):
    def fence_of_claim(self, fence: int) -> int:
        return 1


class NoLeaseCheck(Machine):
    def holds_lease(self, w: World, process: Process) -> bool:
        return True


class NoVersionCondition(Machine):
    checks_version = False


class CallsBeforeCommit(Machine):
    commits_before_calling = False


class DoubtTakenForCommitted(Machine):
    reads_after_doubt = False


class EvidenceIgnored(Machine):
    def takes_evidence(self, result: Result) -> bool:
        return False


class StaleVerdictCounts(Machine):
    def binds(self, look: Look) -> bool:
        return True


class WatchEndsAtOnce(PartTwo):
    def watch_is_over(self, action: Action) -> bool:
        return True


_NO_PROBE = Setting(probe="none")
_NO_KEYS = Setting(keys=False)
_NEITHER = Setting(keys=False, probe="none")
_ONE_STEP = Setting(steps=1, refusable=())
_REPORTED = replace(_ONE_STEP, keys=False, every_effect_is_reported=True)
_UNDO_REFUSED = (Key(2), Key(1, undo=1))


def _seeded(machine: type[Machine], law: str, setting: Setting, **budget: int) -> Trial:
    return Trial(
        name=machine.__name__,
        setting=replace(setting, budget=Budget(**budget)),
        machine=machine,
        breaks=(law,),
        sound=PartTwo if issubclass(machine, PartTwo) else Machine,
    )


BUGS = (
    _seeded(FreshKeyOnRetry, "law 2", _NO_PROBE, crash=1),
    _seeded(CallIsNotCutOff, "law 2", _NO_KEYS, pause=1, verdict=1),
    _seeded(NoCheckOfSendBy, "section 4", _NO_KEYS, slow=2),
    _seeded(AbsenceBelievedAtOnce, "law 2", _NO_KEYS, lost=1, verdict=1),
    _seeded(
        OneReadingIsEnough,
        "law 3",
        replace(_NO_KEYS, visible_really=2),
        lost=2,
        slow=1,
        stop=1,
    ),
    _seeded(
        OldReadingCounts,
        "law 3",
        replace(_ONE_STEP, visible_really=2, key_life=12),
        lost=2,
        slow=3,
    ),
    _seeded(CannotSayIsAbsent, "law 2", _NO_KEYS, lost=1, verdict=1),
    _seeded(UnknownIsFailed, "law 3", Setting(), lost=1),
    _seeded(UnknownUndoIsDone, "law 3", Setting(), lost=1),
    _seeded(ResendAfterKeyLife, "law 2", replace(_NO_PROBE, key_life=5), lost=1),
    _seeded(
        LifeCountsFromLastSending,
        "law 2",
        replace(_ONE_STEP, probe="none", attempts=3, late_until=1, key_life=5),
        lost=2,
        slow=2,
    ),
    _seeded(BlindResend, "law 2", _NEITHER, lost=1),
    _seeded(UndoWhileSuccessorUnknown, "law 9", Setting(), lost=1, stop=1),
    _seeded(CancelReleases, "law 8", Setting(), lost=1, stop=1),
    _seeded(CancelForgetsTheUnknown, "law 4", Setting(), lost=1, stop=1),
    _seeded(DeadEndWithoutCase, "law 4", _NEITHER, lost=1),
    _seeded(NotSentSettlesAllAttempts, "law 3", _NO_PROBE, lost=2, stop=1),
    _seeded(FailureOfUndoIsLost, "law 8", Setting(refusable=_UNDO_REFUSED)),
    _seeded(UndoKeyMadeAtCallTime, "law 2", Setting(), crash=1),
    _seeded(EndedRunIsReopened, "law 7", _REPORTED, stalled=1, lost=1, stop=1),
    _seeded(NoFence, "law 6", Setting(), pause=1),
    _seeded(ClaimWithoutNewFence, "law 6", Setting(), pause=1),
    _seeded(NoLeaseCheck, "law 6", Setting(), pause=1),
    _seeded(NoVersionCondition, "law 5", Setting(), report=1, lost=1, stop=1),
    _seeded(CallsBeforeCommit, "law 1", Setting()),
    _seeded(DoubtTakenForCommitted, "law 1", Setting(), doubt=1),
    _seeded(EvidenceIgnored, "law 3", replace(_NO_KEYS, sleeps=None), pause=1, verdict=1),
    _seeded(StaleVerdictCounts, "law 11", _NO_PROBE, lost=1, report=1, verdict=1),
    _seeded(WatchEndsAtOnce, "law 3", replace(_ONE_STEP, keys=False), stalled=1, slow=1, lost=2),
)
