"""What an owner does next: the counterpart of `saga.machine.plan` and `saga.machine.ways`.

The product picks one way and a time for it; the model offers every way that the rules allow, at
every time from then on. So it holds for the product's order (probe, resend, probe again) and for
any other that keeps the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.moves import Move, Record
from tests.protocol.names import Key
from tests.protocol.results import Results
from tests.protocol.states import NONE, Action, CaseKind
from tests.protocol.world import World

__all__ = ["Machine"]


class Machine(Results):
    """The whole protocol."""

    def plan(self, w: World, p: int) -> Iterator[Move]:
        """All that is due for the owner `p`."""
        live = {call.key for call in w.processes[p].calls}
        for key, action in w.actions.items():
            if key in live:
                continue
            if not w.superseded(key):
                yield from self.ways(w, p, key, action)
            if action.watched:
                yield from self.watching(w, key, action)
        if not self.is_stopped(w):
            for step in range(1, self.setting.steps + 1):
                if self._is_ready(w, step) and Key(step) not in live:
                    yield self._begins(p, Key(step))
        for key in self.undos_due(w):
            undo = Key(key.step, key.generation, 1)
            if undo not in live and not (key in live and w.actions[key].status == "open"):
                yield self._begins(p, undo, w.actions[key].receipt)

    def undos_due(self, w: World) -> list[Key]:
        """ "The undo of a superseded generation waits for nobody"; nor does one after the end."""
        ready = self.unwinding(w)[0] if w.run.phase == "compensating" else []
        return ready + [key for key in self.landed_late(w) if w.undo_of(key) is None]

    def _is_ready(self, w: World, step: int) -> bool:
        if Key(step) in w.actions:
            return False
        before = [w.actions.get(w.newest(earlier)) for earlier in self.setting.before(step)]
        return all(action is not None and action.status == "landed" for action in before)

    def _begins(self, p: int, key: Key, reverses: int = NONE) -> Move:
        without = " without a receipt" if key.undo and reverses == NONE else ""
        return Move(
            f"records intent and sending 1 of {key}{without}",
            lambda w: self.begin(w, p, key, reverses),
            urgent=True,
            record=Record("intend", key),
        )

    def _sends(self, p: int, key: Key, action: Action, why: str) -> Move:
        return Move(
            f"records sending {action.attempts + 1} of {key}: {why}",
            lambda w: self.send(w, p, key),
            urgent=True,
            record=Record("send", key),
        )

    def _opens_case(self, key: Key, kind: CaseKind) -> Move:
        return Move(
            f"opens a case for {key}: {kind}",
            lambda w: w.open_case(key, kind),
            urgent=True,
            record=Record("wake", key, result=kind),
        )

    def ways(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        """The ways out for one action. While its case is open, a person has the word."""
        unknown = action.status == "open"
        if action.again == "probe" and w.run.phase != "ended":
            yield from self.asking(w, key, action)
        elif action.case or self._rests(w, key, action):
            return
        elif action.again == "new":
            yield self._begins(p, key.renewed, action.reverses)
        elif action.again == "same" and self.may_send_as_asked(w, key, action):
            yield self._sends(p, key, action, "a person asked for it")
        elif unknown:
            yield from self.unknown(w, p, key, action)
        elif action.status == "refused" or self.is_used_up(w, key, action):
            yield from self.spent(w, key, action)
        elif action.status == "absent":
            yield from self.after_being_absent(w, p, key, action)
        else:
            yield self._sends(p, key, action, "nothing of it has left")

    def _rests(self, w: World, key: Key, action: Action) -> bool:
        if action.status in ("landed", "accepted"):
            return True
        if key.undo:
            return False
        if action.status == "open":
            # While it is being undone without a receipt, that undo has its own ways out.
            return w.undo_of(key) is not None
        return self.is_stopped(w)

    def spent(self, w: World, key: Key, action: Action) -> Iterator[Move]:
        """It did not happen and will not by itself. A forward action turns the run round, see
        `follow`; past the pivot there is no way back."""
        if key.undo:
            kind: CaseKind = "undo_refused" if action.status == "refused" else "undo_exhausted"
            yield self._opens_case(key, kind)
        elif w.past_pivot:
            yield self._opens_case(key, "exhausted")

    def after_being_absent(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        """ "Else absent by protocol: send again. Else a case." An absence too old for the key's
        life is read again, since a straggler may have landed and been forgotten meanwhile."""
        again = self.after_absence(key)
        if again is None:
            yield self._opens_case(key, "undo_exhausted" if key.undo else "exhausted")
        elif again != key:
            yield self._begins(p, again, action.reverses)
        elif self.is_recent_absence(action):
            yield self._sends(p, key, action, "it was absent")
        elif self.setting.absence_counts:
            yield from self.probing(w, key, action)
        else:
            yield self._opens_case(key, "undo_exhausted" if key.undo else "exhausted")

    def _finds(self, key: Key, seen: int, how: str) -> Move:
        def find(w: World) -> None:
            self.landed(w, key, seen)
            self.follow(w)

        record = Record("probe", key, result="landed", receipt=seen)
        return Move(f"{how} {key}: landed", find, record=record)

    def unknown(self, w: World, p: int, key: Key, action: Action) -> Iterator[Move]:
        """ "Probe. Found: record. Else inside key life: resend under the same key. Else absent by
        protocol: send again. Else a case." Never taken as failed, never repeated blindly."""
        if self.setting.asks:
            yield from self.probing(w, key, action)
        if self.may_resend(w, key, action):
            yield self._sends(p, key, action, "resent inside key life")
        if not self.can_be_settled(w, key, action) and not self.is_undone_blindly(w, key, action):
            yield self._opens_case(key, "unknown")

    def probing(self, w: World, key: Key, action: Action) -> Iterator[Move]:
        """ "A probe answers with the receipt, `Absent()`, `InProgress()` or `CannotSay`." The last
        two change nothing, so they are no moves."""
        if (seen := w.shown(key)) is not None:
            yield self._finds(key, seen, "probes")
        elif self.setting.absence_counts and self.may_count_absence(action):
            record = Record("probe", key, result="absent")
            if self.has_first_reading(action):
                old = "again, since the proof was old, " if action.was_absent else ""
                yield Move(
                    f"probes {key}: {old}absent by protocol",
                    lambda w: self.absent(w, key),
                    record=record,
                )
            elif action.since_absent == NONE:
                yield Move(
                    f"probes {key}: absent, first reading",
                    lambda w: w.set_action(key, since_absent=0),
                    record=record,
                )
        if self.takes_cannot_say_for_absent:
            yield Move(f"probes {key}: cannot say", lambda w: self.absent(w, key))

    def asking(self, w: World, key: Key, action: Action) -> Iterator[Move]:
        """ "`probe`: ask now." The answer may settle and close the case, or only change it."""
        readings = list(self.probing(w, key, action)) if action.status == "open" else []
        if action.status != "open" and (seen := w.shown(key)) is not None:
            readings = [self._finds(key, seen, "probes")]

        def learn(w: World) -> None:
            w.set_action(key, again="")
            w.show_anew(key)
            for reading in readings[:1]:
                reading.change(w)
            self.follow(w)

        nothing = Move(f"probes {key}: learns nothing", learn, record=Record("probe", key))
        reading = readings[0] if readings else nothing
        yield Move(
            f"{reading.label}, since a person asked", learn, urgent=True, record=reading.record
        )

    def watching(self, w: World, key: Key, action: Action) -> Iterator[Move]:
        """ "An action settled as absent, or undone while unknown, is watched." """
        if (seen := w.shown(key)) is not None and not self.is_known(action, seen):
            yield self._finds(key, seen, "watches and finds late")
        elif self.watch_is_over(action) and not self.setting.absence_counts:
            if not action.case:
                yield self._opens_case(key, "late")
        elif self.watch_is_over(action):
            yield Move(f"ends the watch of {key}", lambda w: w.set_action(key, watched=False))
