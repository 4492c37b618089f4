"""The rules of the protocol, one method each, with the sentence of the design that it stands for.

Whatever the machine and the processes do in this model, they ask here whether they may. A seeded
bug (`bugs`) and a rule taken out (`taken_out`) are a subclass that answers one question wrongly.
"""

from __future__ import annotations

from typing import ClassVar

from tests.protocol.names import Key
from tests.protocol.setting import Setting
from tests.protocol.states import NONE, Action, Call, Look, Process, Result, Status
from tests.protocol.world import World

__all__ = ["Rules"]


class Rules:
    """What is allowed. Nothing here changes a world."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    # Who may write, and when it is durable

    checks_version: ClassVar[bool] = True
    """"Every write names (run, expected version). A lost race is `Conflict`: read again, decide
    again." So an owner always decides on the journal as it is, and the model lets it."""

    commits_before_calling: ClassVar[bool] = True
    """"Nothing is acknowledged and no call is made before its commit is durable." """

    reads_after_doubt: ClassVar[bool] = True
    """"A COMMIT that returns an error may have happened: read the head under a lock and compare
    before doing anything." """

    compares_owner_after_doubt: ClassVar[bool] = True
    """"A claim is no record; in doubt, compare owner and fence. Every process also takes up runs
    that it owns but does not hold in memory." """

    def fence_of_claim(self, fence: int) -> int:
        """ "Fence: the number that grows with each claim." """
        return fence + 1

    def may_append(self, w: World, process: Process) -> bool:
        """ "Every write names, for an owner, its fence." """
        return process.fence > 0 and process.fence == w.run.fence

    # When a call may start

    def holds_lease(self, w: World, process: Process) -> bool:
        """ "Before each call the owner checks its lease."

        The model's lease is exact: it has ended as soon as somebody else has claimed the run, which
        nobody may do before. That is what the margins of section 7 are for.
        """
        return process.fence == w.run.fence

    def is_in_time(self, call: Call) -> bool:
        """ "No call is started after `send_by`." """
        return call.left >= 0

    def leaves_until(self) -> int | None:
        """ "`in_flight` must cover a pause between that check and the first byte."

        How many ticks after `send_by` a byte may still leave: 0 where the promise is kept.
        """
        return self.setting.sleeps

    def repeats_the_key(self, attempt: int) -> bool:
        """ "Sending: one attempt at an intent, always under its key." """
        return True

    # What a result settles

    def left_after_refusal(self, action: Action, attempt: int) -> tuple[int, ...]:
        """ "*Not sent* settles only its own attempt; so does *refused*, unless the provider
        `replays_refusals`." """
        if self.setting.keys and self.setting.replays_refusals:
            return ()
        return tuple(other for other in action.unsettled if other != attempt)

    def left_after_not_sent(self, action: Action, attempt: int) -> tuple[int, ...]:
        """ "An action has not landed only when every attempt is settled so." """
        return tuple(other for other in action.unsettled if other != attempt)

    def when_nothing_left(self, action: Action) -> Status:
        """What an action is when its last open attempt has not been sent.

        Where an earlier attempt is settled only by an absence, that absence is still what counts:
        the next sending is bound to the key's life, as it would have been without this attempt.
        """
        return "absent" if action.was_absent else "not_sent"

    def takes_evidence(self, result: Result) -> bool:
        """ "Anybody may append `report(...)`, the calling process also refused or not sent for its
        own attempt; decide treats it like a probe's answer." """
        return result != "unknown"

    opens_case_for_second_effect: ClassVar[bool] = True
    """"A receipt other than the recorded one, for an action in any state, is a second effect: a
    case. So is a second landed undo." """

    def counts(self, w: World, key: Key) -> bool:
        """The run can still take this effect into its course: it goes on from it, or undoes it.

        Else it is undone by itself, or a case: "the outcome of the run does not change"; "a forward
        effect found after its undo is a case".
        """
        if w.actions[key].status in ("landed", "accepted"):
            return False
        return not self.is_over_for(w, key) and not self.is_taken_back(w, key)

    def is_over_for(self, w: World, key: Key) -> bool:
        """The run has ended, or the action has a newer generation. Undos go on after the end, for
        what has landed late."""
        return w.superseded(key) or (not key.undo and w.run.phase == "ended")

    def is_taken_back(self, w: World, key: Key) -> bool:
        """It was undone while nobody knew that it had landed."""
        return not key.undo and (w.actions[key].undone or w.undo_of(key) is not None)

    # The ways out of unknown

    takes_cannot_say_for_absent: ClassVar[bool] = False
    """"`None` and whatever it raises mean `CannotSay`." Law 12: "a missing field never means
    approved, done or absent." """

    def is_in_life(self, action: Action) -> bool:
        """ "A resend is allowed only if its `send_by` + `late_until` < earliest possible landing +
        `key_life` (neither declared: half of `key_life`). Earliest possible landing = the first
        `sending`, or, after a counted absence, the start of its last read - `visible_after`." """
        s = self.setting
        under_way = s.longest_under_way if s.declared else s.key_life // 2
        return action.since_earliest + s.timeout + under_way < s.key_life

    def may_resend(self, w: World, key: Key, action: Action) -> bool:
        """ "Else inside key life: resend under the same key." "When the run is winding down:
        resend inside key life, but only a step that can be undone." """
        used_up = action.resends >= self.setting.attempts - 1 and not self.is_interrupted(action)
        if not self.setting.keys or used_up:
            return False
        no_way_back = w.run.phase != "running" and self.is_irreversible(key)
        return self.is_in_life(action) and not no_way_back

    def is_interrupted(self, action: Action) -> bool:
        """The newest attempt ended with its process: deaths are counted apart from failures (the
        product bounds them; here their budget does)."""
        return action.attempts in action.unsettled and action.heard < action.attempts

    def is_irreversible(self, key: Key) -> bool:
        """ "An irreversible step is a pivot by itself." """
        return not key.undo and key.step in self.setting.irreversible

    def may_count_absence(self, action: Action) -> bool:
        """ "The first starts not before the last moment a byte could leave + `in_flight` +
        `visible_after`." """
        return action.since_send_by >= self.setting.in_flight + self.setting.visible_after

    def has_first_reading(self, action: Action) -> bool:
        """ "Absent needs two probes: the second `visible_after` later; both are kept." """
        return action.since_absent != NONE and action.since_absent >= self.setting.visible_after

    def after_absence(self, key: Key) -> Key | None:
        """The key to send under after proven absence; `None`: a person must ask for a new one.

        "Where keys are honoured, an action is always sent again under the same key. Where they are
        not, sending again after proven absence or a person's `retry` makes a new generation."
        """
        if self.setting.keys:
            return key
        return key.renewed if key.lives < self.setting.generations else None

    def is_recent_absence(self, action: Action) -> bool:
        """Inside key life again, counted from the reading: what lands after it by a broken promise
        and is forgotten before the next sending would be a second effect under one key. Too old an
        absence is read again."""
        return self.is_in_life(action)

    def may_undo_blindly(self, action: Action) -> bool:
        """ "An action still unknown is undone without a receipt only when neither probe nor resend
        can settle it, and after last `send_by` + `in_flight`." """
        return action.since_send_by >= self.setting.in_flight

    # In which order, and when a run turns or ends

    def waits_for_way_back(self, action: Action) -> bool:
        """ "While an irreversible step is sending or unknown, cancel and deadline are recorded and
        take effect only if it turns out not landed." """
        return action.status == "open"

    def undo_waits(self, *, clear_behind: bool) -> bool:
        """ "No undo while a transitive successor is unknown: settle that first." "An undo that is
        refused, used up or unknown holds the undos behind it until a verdict, unless its step says
        `hold=False`." """
        return not clear_behind

    def is_unsettled(self, w: World, action: Action) -> bool:
        """Law 8: "`compensated` is recorded only when no forward action is unknown." """
        return action.status == "open"

    # What a person may say

    def is_late_enough(self, action: Action) -> bool:
        """ "`absent`, `retry` and `undone` on an unknown are refused before last `send_by` +
        `in_flight` (`late_until` where the provider cannot be asked) + `visible_after`." "Where no
        bound is declared the text says so, and `retry` names the risk that is accepted." """
        s = self.setting
        if not s.declared:
            return action.since_send_by >= 0
        under_way = s.in_flight if s.asks else s.longest_under_way
        return action.since_send_by >= under_way + s.visible_after

    def has_looked(self, look: Look, action: Action) -> bool:
        """ "... and the person must have looked after that; the case shows the time." """
        return look.late_enough

    def binds(self, look: Look) -> bool:
        """Law 11: "A verdict binds to the case version and digest it was shown." """
        return look.fresh

    def after_retry(self, key: Key, action: Action) -> Key:
        """ "`retry`: send again, attempts from 0 (a refused action: new generation; an unknown or
        used-up one: same key where keys are honoured, else new generation)." """
        return key if self.setting.keys and action.status != "refused" else key.renewed

    def earliest_after_look(self, look: Look, action: Action) -> int:
        """A person who looked and saw nothing is a reading of absence, at the time of the look."""
        visible_after = self.setting.visible_after if self.setting.declared else 0
        return min(action.since_earliest, look.age + visible_after)

    def earliest_after_retry(self, look: Look, action: Action) -> int:
        """A `retry` rests on such a look as `absent` does."""
        return self.earliest_after_look(look, action)

    def may_send_as_asked(self, w: World, key: Key, action: Action) -> bool:
        """A person's `retry` under the same key, too, lands inside the key's life: what lands after
        the look by a broken promise may be forgotten by then. Where nothing ever left, there is
        nothing to remember; where the provider cannot be asked, the look was after `late_until`.

        The wish to send a forward action again ends when the run winds down.
        """
        if not key.undo and w.run.phase != "running":
            return False
        if action.status == "not_sent" or not (self.setting.asks and self.setting.declared):
            return True
        return self.is_in_life(action)

    # What lands late

    def watches(self) -> bool:
        """ "An action settled as absent, or undone while unknown, is watched." """
        return self.setting.asks and self.setting.declared and self.setting.late_declared

    def watch_is_over(self, action: Action) -> bool:
        """ "The last read starts at or after last `send_by` + `late_until` + `visible_after`." """
        return action.since_send_by >= self.setting.late_until + self.setting.visible_after

    def undoes_what_lands_late(self, w: World, key: Key) -> bool:
        """ "What lands late gets an undo action, or a case." Unless it has been taken back already,
        or cannot be."""
        if key.undo or self.is_irreversible(key) or self.is_taken_back(w, key):
            return False
        settled = w.actions[key].status in ("landed", "accepted")
        return self.is_over_for(w, key) and not settled
