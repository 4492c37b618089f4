"""What is recorded: an intent, a sending, a reply, a probe's answer, a report, an absence."""

from __future__ import annotations

from tests.protocol import laws
from tests.protocol.names import Key
from tests.protocol.states import NONE, Action, Call, Result
from tests.protocol.unwinding import Unwinding
from tests.protocol.world import World

__all__ = ["Results"]


class Results(Unwinding):
    """Each method is one record, with all that follows from it."""

    def begin(self, w: World, p: int, key: Key, reverses: int = NONE) -> None:
        """ "`intended` (frozen arguments, key, digest) and `sending(n, fence, send_by)` are two
        events, usually of one record." An undo's intent freezes the receipt that it reverses."""
        if key.undo:
            laws.undo_begins(w, key)
        w.actions[key] = Action(reverses=reverses)
        self.send(w, p, key)

    def send(self, w: World, p: int, key: Key) -> None:
        """ "No byte leaves without a durable `sending`. Each attempt is a new `sending` event." """
        action = w.actions[key]
        attempt = action.attempts + 1
        w.actions[key] = action._replace(
            status="open",
            attempts=attempt,
            resends=action.resends + self.repeats(action),
            unsettled=(*action.unsettled, attempt),
            since_send_by=-self.setting.timeout,
            since_earliest=action.since_earliest if action.attempts else 0,
            since_absent=NONE,
            again="",
        )
        w.set_calls(p, (*w.processes[p].calls, Call(key, attempt, "ready", self.setting.timeout)))

    def repeats(self, action: Action) -> bool:
        """ "Retry paces not-sent attempts, probes and resends, each counted apart." What a person
        asked for is not counted, nor what repeats a call that ended with its process."""
        if self.is_interrupted(action):
            return False
        return (bool(action.unsettled) or action.was_absent) and action.again != "same"

    def reply(self, w: World, key: Key, attempt: int, result: Result, receipt: int = NONE) -> None:
        """An attempt's own reply, or a report. It is decided on the journal's state, whoever
        brings it."""
        if key not in w.actions:
            return
        if result == "landed":
            self.landed(w, key, receipt)
        elif result == "unknown":
            self.gave_no_answer(w, key, attempt)
        elif attempt in w.actions[key].unsettled:
            self.did_not_land(w, key, attempt, result)
        self.follow(w)

    def landed(self, w: World, key: Key, receipt: int) -> None:
        """Proof counts whenever and from whomever it comes. "What settles an action closes its
        case; a verdict that comes later is refused as stale." """
        action = w.actions[key]
        if self.is_known(action, receipt):
            return
        if not self.counts(w, key) and not self.undoes_what_lands_late(w, key):
            w.set_action(key, others=(*action.others, receipt))
            if self.opens_case_for_second_effect:
                w.open_case(key, "late")
            return
        w.set_action(key, status="landed", receipt=receipt, unsettled=(), watched=False, again="")
        if action.case != "late":
            w.close_case(key)
        if key.undo:
            self.undo_is_settled(w, key, "absent")

    def is_known(self, action: Action, receipt: int) -> bool:
        """Equal evidence says nothing new, however often it comes."""
        recorded = (action.status, action.receipt) == ("landed", receipt)
        return recorded or receipt in action.others

    def undo_is_settled(self, w: World, undo: Key, forward: str) -> None:
        """Undone while unknown: whatever the forward action was, it has been taken back."""
        if w.actions[undo.forward].status == "open":
            w.set_action(
                undo.forward,
                status=forward,
                undone=forward == "absent",
                unsettled=(),
                again="",
                watched=self.watches(),
            )

    def gave_no_answer(self, w: World, key: Key, attempt: int) -> None:
        """ "A time-out, a lost process, an unreadable reply: **unknown**." Nothing is settled, so
        nothing changes here but that nobody waits for the answer any more."""
        if attempt in w.actions[key].unsettled:
            w.set_action(key, heard=max(w.actions[key].heard, attempt))

    def did_not_land(self, w: World, key: Key, attempt: int, result: Result) -> None:
        """*Refused* or *not sent*: of this attempt, or of all."""
        action = w.actions[key]
        if result == "refused":
            left, refused = self.left_after_refusal(action, attempt), True
        else:
            left, refused = self.left_after_not_sent(action, attempt), action.refused
            w.set_action(key, not_sent=action.not_sent + 1)
        status = "open" if left else "refused" if refused else self.when_nothing_left(action)
        w.set_action(key, status=status, unsettled=left, refused=refused)
        if not left and action.case != "late":
            w.close_case(key)

    def absent(self, w: World, key: Key) -> None:
        """Proven not to have happened: "both are kept". A refusal of another attempt stands."""
        action = w.actions[key]
        w.set_action(
            key,
            status="refused" if action.refused else "absent",
            unsettled=(),
            again="",
            since_earliest=self.setting.visible_after,  # nothing landed before this reading
            since_absent=NONE,
            was_absent=True,
            watched=self.watches(),
        )
        if action.case != "late":
            w.close_case(key)
        self.follow(w)
