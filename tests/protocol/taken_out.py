"""Rules taken out: each is the protocol as somebody writes it who has not thought of the rule.

Section 4 was first written without most of these. Every one of them is needed: without it a law
breaks, in a setting in which all laws hold with it.
"""

from __future__ import annotations

from dataclasses import replace

from tests.protocol.machine import Machine
from tests.protocol.names import Key
from tests.protocol.setting import Budget, Setting
from tests.protocol.states import Action, Look, Status
from tests.protocol.trial import Trial
from tests.protocol.world import World

__all__ = ["TAKEN_OUT"]


class WithoutTimeToLand(Machine):
    """A resend counts as inside the key's life when it is *sent* inside it."""

    def is_in_life(self, action: Action) -> bool:
        return action.since_earliest < self.setting.key_life


class WithoutLateUntilInLife(Machine):
    """... or when it lands inside it with the ordinary time under way."""

    def is_in_life(self, action: Action) -> bool:
        s = self.setting
        return action.since_earliest + s.timeout + s.in_flight < s.key_life


class WithoutOwnRefusal(Machine):
    """A refusal speaks for every attempt, whatever the provider does."""

    def left_after_refusal(self, action: Action, attempt: int) -> tuple[int, ...]:
        return ()


class WithoutNewGeneration(Machine):
    """After absence always the same key, also where keys are ignored."""

    def after_absence(self, key: Key) -> Key | None:
        return key

    def is_recent_absence(self, action: Action) -> bool:
        return not self.setting.keys or super().is_recent_absence(action)


class WithoutSameKey(Machine):
    """After absence always a new key, also where keys are honoured."""

    def after_absence(self, key: Key) -> Key | None:
        return key.renewed if key.lives < self.setting.generations else None


class WithoutReadingAgain(Machine):
    """An absence is good for ever."""

    def is_recent_absence(self, action: Action) -> bool:
        return True


class WithoutRememberingAbsence(Machine):
    """Not sent is not sent: it may be sent again at any time."""

    def when_nothing_left(self, action: Action) -> Status:
        return "not_sent"


class WithoutAgeOfLook(Machine):
    """A person's `retry` is sent under the same key however long ago the look was."""

    def earliest_after_retry(self, look: Look, action: Action) -> int:
        return action.since_earliest

    def may_send_as_asked(self, w: World, key: Key, action: Action) -> bool:
        return bool(key.undo) or w.run.phase == "running"


class WithoutBoundForPeople(Machine):
    """A person may say at any time that it did not happen."""

    def is_late_enough(self, action: Action) -> bool:
        return True


class WithoutLookAfterBound(Machine):
    """A person must decide late enough, but may have looked before."""

    def has_looked(self, look: Look, action: Action) -> bool:
        return self.is_late_enough(action)


class WithoutSecondEffect(Machine):
    """Another receipt for what has landed is dropped."""

    opens_case_for_second_effect = False


class WithoutCaseAfterEnd(Machine):
    """What lands after the end, or of a superseded generation, is recorded like anything else."""

    def is_over_for(self, w: World, key: Key) -> bool:
        return False


class WithoutCaseAfterUndo(Machine):
    """... and so is what lands after it was undone."""

    def is_taken_back(self, w: World, key: Key) -> bool:
        return False


class WithoutWaitBeforeBlindUndo(Machine):
    """An unknown is undone without a receipt as soon as nothing can settle it."""

    def may_undo_blindly(self, action: Action) -> bool:
        return True


class WithoutWaitForWayBack(Machine):
    """Cancel and deadline take effect while an irreversible step is under way."""

    def waits_for_way_back(self, action: Action) -> bool:
        return False


class WithoutComparingOwner(Machine):
    """A claim in doubt is taken for lost."""

    compares_owner_after_doubt = False


class WithoutVisibleAfterInWatch(Machine):
    """The watch ends when the last straggler can have landed, not when it can be seen."""

    def watch_is_over(self, action: Action) -> bool:
        return action.since_send_by >= self.setting.late_until


class WithoutWatch(Machine):
    """Proven absence is the end of it."""

    def watches(self) -> bool:
        return False


_NO_PROBE = Setting(probe="none")
_NEITHER = Setting(keys=False, probe="none")
_REPORTED = Setting(every_effect_is_reported=True)
_ONE_STEP = Setting(steps=1, refusable=())
_WATCHED = replace(_ONE_STEP, keys=False)
_BLIND = replace(_NEITHER, undo_needs_receipt=False)


def _without(
    machine: type[Machine], law: str, setting: Setting, named: str = "", **budget: int
) -> Trial:
    return Trial(
        name=machine.__name__,
        setting=replace(setting, budget=Budget(**budget)),
        machine=machine,
        breaks=(law,),
        named=(named,) if named else (),
    )


TAKEN_OUT = (
    _without(WithoutTimeToLand, "law 2", replace(_NO_PROBE, key_life=5), crash=1),
    _without(WithoutLateUntilInLife, "law 2", _NO_PROBE, stalled=1, slow=1, lost=1),
    _without(WithoutOwnRefusal, "law 3", replace(_NO_PROBE, replays_refusals=False), lost=2),
    _without(
        WithoutNewGeneration,
        "law 2",
        replace(_REPORTED, keys=False),
        stalled=1,
        lost=1,
        verdict=1,
    ),
    _without(WithoutSameKey, "law 2", _REPORTED, stalled=1, lost=1),
    _without(
        WithoutReadingAgain,
        "law 2",
        replace(_ONE_STEP, every_effect_is_reported=True),
        stalled=1,
        lost=1,
        crash=1,
    ),
    _without(
        WithoutRememberingAbsence,
        "law 2",
        replace(_ONE_STEP, every_effect_is_reported=True, attempts=3, key_life=7),
        stalled=1,
        lost=2,
        crash=1,
    ),
    _without(
        WithoutAgeOfLook,
        "law 2",
        replace(_ONE_STEP, probe="finds only", every_effect_is_reported=True),
        stalled=1,
        lost=1,
        verdict=1,
    ),
    _without(WithoutBoundForPeople, "law 2", _NEITHER, lost=1, verdict=1),
    _without(WithoutLookAfterBound, "law 2", _NEITHER, lost=1, verdict=1),
    _without(
        WithoutSecondEffect,
        "law 3",
        replace(_REPORTED, keys=False, probe="none"),
        "law 2",
        doubled=1,
    ),
    _without(
        WithoutCaseAfterEnd,
        "law 3",
        replace(_ONE_STEP, keys=False, irreversible=(1,), every_effect_is_reported=True),
        stalled=1,
        lost=1,
        stop=1,
    ),
    _without(
        WithoutCaseAfterUndo,
        "law 3",
        replace(_BLIND, steps=1, refusable=(), sleeps=2, every_effect_is_reported=True),
        pause=1,
        stop=1,
    ),
    _without(WithoutWaitBeforeBlindUndo, "law 3", _BLIND, lost=1, stop=1),
    _without(WithoutWaitForWayBack, "section 4", Setting(irreversible=(2,)), lost=1, stop=1),
    _without(WithoutComparingOwner, "law 4", Setting(), doubt=1),
    _without(WithoutVisibleAfterInWatch, "law 3", _WATCHED, stalled=1, slow=1, lost=2),
    _without(WithoutWatch, "law 3", _WATCHED, stalled=1, slow=1, lost=2),
)
