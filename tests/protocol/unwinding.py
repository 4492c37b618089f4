"""What follows from a result without anybody asking, and in which order a run is undone.

`follow` is part of every record (law 13: "what follows from a result is committed with it"), also
of a client's: cancel, deadline, report and verdict are decided by the same rules.
"""

from __future__ import annotations

from tests.protocol.names import Key
from tests.protocol.rules import Rules
from tests.protocol.states import Action
from tests.protocol.world import World

__all__ = ["Unwinding"]


class Unwinding(Rules):
    """When a run winds down, what may be undone next, and when it ends."""

    def follow(self, w: World) -> None:
        if w.run.phase == "running":
            self._turn(w)
        if w.run.phase == "compensating":
            self._end(w)

    def is_stopped(self, w: World) -> bool:
        """ "The run's deadline starts no new forward sending (a resend that settles an unknown is
        not one)." "A recorded cancel always winds down." """
        if w.run.phase != "running":
            return True
        return w.run.stop is not None and not w.past_pivot

    def is_used_up(self, w: World, key: Key, action: Action) -> bool:
        """Nothing is under way, and the machine may not try again by itself."""
        if action.status == "not_sent":
            return action.not_sent >= self.setting.attempts
        if action.status != "absent":
            return False
        again = self.after_absence(key)
        return again is None or (again == key and action.resends >= self.setting.attempts - 1)

    def _turn(self, w: World) -> None:
        """ "A run whose last step then lands is completed, however late." "Pivot: the step from
        which on a run only goes forward." """
        forward = {key: w.actions.get(key) for key in self._newest(w)}
        if all(action is not None and action.status == "landed" for action in forward.values()):
            w.set_run(phase="ended", outcome="completed")
            return
        if w.past_pivot:
            return
        busy = failed = False
        for key, action in forward.items():
            if action is None:
                continue
            if action.status == "open":
                busy = True
                if key.step in self.setting.irreversible and self.waits_for_way_back(action):
                    return
            elif not self.is_stopped(w) and self._has_failed(w, key, action):
                failed = True
        if failed or w.run.stop == "cancel" or (w.run.stop == "deadline" and not busy):
            w.set_run(phase="compensating")

    def _newest(self, w: World) -> list[Key]:
        return [w.newest(step) for step in range(1, self.setting.steps + 1)]

    def _has_failed(self, w: World, key: Key, action: Action) -> bool:
        if action.case or action.again == "new":
            return False
        return action.status == "refused" or self.is_used_up(w, key, action)

    def _end(self, w: World) -> None:
        """An endless unknown is one open case; a run with an open case has not ended."""
        for key, action in w.actions.items():
            if self._is_moot(w, key, action):
                w.close_case(key)
            elif self._is_beyond_undo(w, key, action):
                w.open_case(key, "late")
        if any(action.case for action in w.actions.values()) or not self.unwinding(w)[1]:
            return
        w.set_run(phase="ended", outcome="settled" if w.run.accepted else "compensated")

    def _is_moot(self, w: World, key: Key, action: Action) -> bool:
        """A case that winding down has answered: this is not sent again, or there is a way
        now, since its undo needs no receipt."""
        if key.undo or action.case != "unknown":
            return not key.undo and action.case == "exhausted"
        return self.is_undone_blindly(w, key, action)

    def _is_beyond_undo(self, w: World, key: Key, action: Action) -> bool:
        """An irreversible effect in a run that is being undone: a person must answer for it."""
        landed = self.is_irreversible(key) and action.status == "landed"
        return landed and not action.case and not action.answered_for

    # In which order

    def unwinding(self, w: World) -> tuple[list[Key], bool]:
        """The forward actions whose undo may begin now; whether nothing is left to undo.

        A step is *clear* when nothing of it is left to settle or undo and all that follows it is
        clear. "Undo runs against the same edges"; "independent branches do not wait".
        """
        clear: dict[int, bool] = {}
        ready: list[Key] = []
        settled = True
        for step in range(self.setting.steps, 0, -1):
            behind = all(clear[later] for later in self.setting.behind(step))
            own, passable = self.is_clear(w, step)
            key = w.newest(step)
            if not self.undo_waits(clear_behind=behind) and self._undo_may_begin(w, key):
                ready.append(key)
            settled = settled and own
            clear[step] = behind and (own or passable)
        return ready, settled and all(w.taken_back(key) for key in self.landed_late(w))

    def landed_late(self, w: World) -> list[Key]:
        """What the run has gone on without, and an undo of its own takes back."""
        ended = w.run.phase == "ended" and w.run.outcome != "completed"
        return [
            key
            for key, action in w.actions.items()
            if not key.undo and action.status == "landed" and (ended or w.superseded(key))
            if not self.is_irreversible(key)
        ]

    def is_clear(self, w: World, step: int) -> tuple[bool, bool]:
        """Whether a step itself needs nothing more, and whether those before it may pass it."""
        key = w.newest(step)
        action = w.actions.get(key)
        if action is not None and self.is_unsettled(w, action):
            return False, False
        if action is None or action.status != "landed" or self.is_irreversible(key):
            return True, True  # the last is a person's: its case keeps the run from ending
        if (undo := w.undo_of(key)) is None:
            return False, False
        if w.actions[undo].status in ("landed", "accepted"):
            return True, True
        return False, not self.setting.hold and bool(w.actions[undo].case)

    def _undo_may_begin(self, w: World, key: Key) -> bool:
        action = w.actions.get(key)
        if action is None or self.is_irreversible(key) or w.undo_of(key) is not None:
            return False
        if action.status == "landed":
            return True
        if action.status != "open" or action.case:
            return False
        return self.is_undone_blindly(w, key, action) and self.may_undo_blindly(action)

    def is_undone_blindly(self, w: World, key: Key, action: Action) -> bool:
        """Nothing can settle this unknown, and its undo works without a receipt."""
        if key.undo or w.run.phase != "compensating" or self.is_irreversible(key):
            return False
        if self.setting.undo_needs_receipt or not self.setting.declared:
            return False
        return not self.can_be_settled(w, key, action)

    def can_be_settled(self, w: World, key: Key, action: Action) -> bool:
        """By a probe, some day, or by a resend."""
        return self.setting.absence_counts or self.may_resend(w, key, action)
