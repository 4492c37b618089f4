"""Part 2: the watch for late landings, and new generations without a person.

Part 1 ends an absence with a case where sending again needs a new key, and hears of a straggler
only by a report. These rules are switched on by searching with `PartTwo` instead of `Machine`.
"""

from __future__ import annotations

from tests.protocol.machine import Machine
from tests.protocol.names import Key
from tests.protocol.states import Action
from tests.protocol.world import World

__all__ = ["PartTwo"]


class PartTwo(Machine):
    """ "Where keys are ignored, sending again after proven absence makes a new generation; the old
    one stays watched under its own key, and what lands of it gets its own undo." """

    def watches(self) -> bool:
        return self.setting.asks

    def after_absence(self, key: Key) -> Key | None:
        if self.setting.keys:
            return key
        return key.renewed if key.lives < self.setting.generations else None

    def is_used_up(self, w: World, key: Key, action: Action) -> bool:
        if action.status == "absent" and self.after_absence(key) is None:
            return True
        return super().is_used_up(w, key, action)

    def is_over_for(self, w: World, key: Key) -> bool:
        """Undos go on after the end, for what has landed late."""
        return w.superseded(key) if key.undo else super().is_over_for(w, key)

    def undoes_what_lands_late(self, w: World, key: Key) -> bool:
        """Unless it has been taken back already, or cannot be."""
        if key.undo or self.is_irreversible(key) or self.is_taken_back(w, key):
            return False
        settled = w.actions[key].status in ("landed", "accepted")
        return self.is_over_for(w, key) and not settled

    def undos_due(self, w: World) -> list[Key]:
        """ "The undo of a superseded generation waits for nobody"; nor does one after the end."""
        return super().undos_due(w) + [
            key for key in self._landed_late(w) if w.undo_of(key) is None
        ]

    def unwinding(self, w: World) -> tuple[list[Key], bool]:
        ready, settled = super().unwinding(w)
        return ready, settled and all(w.taken_back(key) for key in self._landed_late(w))

    def _landed_late(self, w: World) -> list[Key]:
        ended = w.run.phase == "ended" and w.run.outcome != "completed"
        return [
            key
            for key, action in w.actions.items()
            if not key.undo and action.status == "landed" and (ended or w.superseded(key))
            if not self.is_irreversible(key)
        ]
