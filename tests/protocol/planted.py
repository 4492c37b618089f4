"""Where each seeded bug is looked for, and the law that must name it.

A model that finds no bug proves nothing. In the same setting all laws hold without the bug.
"""

from __future__ import annotations

from dataclasses import replace

from tests.protocol import bugs
from tests.protocol.machine import Machine
from tests.protocol.names import Key
from tests.protocol.setting import Budget, Setting
from tests.protocol.trial import Trial

__all__ = ["BUGS"]

_NO_PROBE = Setting(probe="none")
_NO_KEYS = Setting(keys=False)
_NEITHER = Setting(keys=False, probe="none")
_ONE_STEP = Setting(steps=1, refusable=())
_WATCHED = replace(_ONE_STEP, keys=False)
_REPORTED = replace(_ONE_STEP, keys=False, every_effect_is_reported=True)
_UNDO_REFUSED = (Key(2), Key(1, undo=1))


def _seeded(machine: type[Machine], law: str, setting: Setting, **budget: int) -> Trial:
    return Trial(
        name=machine.__name__,
        setting=replace(setting, budget=Budget(**budget)),
        machine=machine,
        breaks=(law,),
    )


BUGS = (
    _seeded(bugs.FreshKeyOnRetry, "law 2", _NO_PROBE, crash=1),
    _seeded(bugs.CallIsNotCutOff, "law 2", _NO_KEYS, pause=1, verdict=1),
    _seeded(bugs.NoCheckOfSendBy, "section 4", _NO_KEYS, slow=2),
    _seeded(bugs.AbsenceBelievedAtOnce, "law 2", _NO_KEYS, lost=1, verdict=1),
    _seeded(
        bugs.OneReadingIsEnough,
        "law 2",
        replace(_ONE_STEP, keys=False, visible_really=2),
        lost=2,
        slow=1,
        stop=1,
    ),
    _seeded(
        bugs.OldReadingCounts,
        "law 3",
        replace(_ONE_STEP, visible_really=2, key_life=12, late_declared=False),
        lost=2,
        slow=3,
    ),
    _seeded(bugs.CannotSayIsAbsent, "law 2", _NO_KEYS, lost=1, verdict=1),
    _seeded(bugs.UnknownIsFailed, "law 3", Setting(), lost=1),
    _seeded(bugs.UnknownUndoIsDone, "law 3", Setting(), lost=1),
    _seeded(bugs.ResendAfterKeyLife, "law 2", replace(_NO_PROBE, key_life=5), lost=1),
    _seeded(
        bugs.LifeCountsFromLastSending,
        "law 2",
        replace(_ONE_STEP, probe="none", attempts=3, late_until=1, key_life=5),
        lost=2,
        slow=2,
    ),
    _seeded(bugs.BlindResend, "law 2", _NEITHER, lost=1),
    _seeded(bugs.UndoWhileSuccessorUnknown, "law 9", Setting(), lost=1, stop=1),
    _seeded(bugs.CancelReleases, "law 8", Setting(), lost=1, stop=1),
    _seeded(bugs.CancelForgetsTheUnknown, "law 4", Setting(), lost=1, stop=1),
    _seeded(bugs.DeadEndWithoutCase, "law 4", _NEITHER, lost=1),
    _seeded(bugs.NotSentSettlesAllAttempts, "law 3", _ONE_STEP, lost=2, stop=1),
    _seeded(bugs.FailureOfUndoIsLost, "law 8", Setting(refusable=_UNDO_REFUSED)),
    _seeded(bugs.UndoKeyMadeAtCallTime, "law 2", Setting(), crash=1),
    _seeded(bugs.EndedRunIsReopened, "law 7", _REPORTED, stalled=1, lost=1, stop=1),
    _seeded(bugs.NoFence, "law 6", Setting(), pause=1),
    _seeded(bugs.ClaimWithoutNewFence, "law 6", Setting(), pause=1),
    _seeded(bugs.NoLeaseCheck, "law 6", Setting(), pause=1),
    _seeded(bugs.NoVersionCondition, "law 5", _ONE_STEP, report=1, lost=1, stop=1),
    _seeded(bugs.CallsBeforeCommit, "law 1", Setting()),
    _seeded(bugs.DoubtTakenForCommitted, "law 1", Setting(), doubt=1),
    _seeded(bugs.EvidenceIgnored, "law 3", replace(_NO_KEYS, sleeps=None), pause=1, verdict=1),
    _seeded(bugs.StaleVerdictCounts, "law 11", _NO_PROBE, lost=1, report=1, verdict=1),
    _seeded(bugs.WatchEndsAtOnce, "law 3", _WATCHED, stalled=1, slow=1, lost=2),
)
