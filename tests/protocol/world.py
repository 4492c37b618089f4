"""A state, thawed: what one transition asks and changes, and then freezes again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.protocol.names import Key
from tests.protocol.setting import Setting
from tests.protocol.states import NONE, NOTHING_KEPT, Action, Call, CaseKind, Fate, Kept, State

if TYPE_CHECKING:
    from tests.protocol.machine import Machine

__all__ = ["World"]


class World:
    """A state, thawed. `broken`: the laws that the transition broke."""

    __slots__ = (
        "actions", "broken", "budget", "ledger", "look", "machine", "messages", "processes",
        "run", "setting",
    )  # fmt: skip

    def __init__(self, machine: Machine, state: State) -> None:
        self.machine = machine
        self.setting: Setting = machine.setting
        self.run, actions, ledger, messages, processes, self.look, self.budget = state
        self.actions = dict(actions)
        self.ledger = dict(ledger)
        self.messages = list(messages)
        self.processes = list(processes)
        self.broken: list[str] = []

    def freeze(self) -> State:
        self._stop_clocks()
        return State(
            self.run,
            tuple(sorted(self.actions.items())),
            tuple(sorted(self.ledger.items())),
            tuple(sorted(self.messages)),
            tuple(self.processes),
            self.look,
            self.budget,
        )

    def _stop_clocks(self) -> None:
        """Set to 0 what no rule can read any more, so that equal futures are one state."""
        for key, action in self.actions.items():
            settled = action.status in ("landed", "refused", "accepted") or self.superseded(key)
            if action.watched or not (settled or self._is_absent_for_good(action)):
                continue
            if action.since_send_by or action.since_earliest or action.since_absent != NONE:
                self.actions[key] = action._replace(
                    since_send_by=0, since_earliest=0, since_absent=NONE
                )
            kept = self.ledger.get(key)
            if settled and kept is not None and not self._is_busy(key):
                self._stop_clocks_of_provider(key, kept)

    def _is_absent_for_good(self, action: Action) -> bool:
        """It will not be sent again under its key."""
        return action.status == "absent" and not self.setting.keys

    def _is_busy(self, key: Key) -> bool:
        return any(message.key == key for message in self.messages) or any(
            call.key == key for process in self.processes for call in process.calls
        )

    def _stop_clocks_of_provider(self, key: Key, kept: Kept) -> None:
        if kept.remembered or any(landing.hidden for landing in kept.landings):
            shown = tuple(landing._replace(hidden=0) for landing in kept.landings)
            self.ledger[key] = kept._replace(remembered=0, landings=shown)

    # Changes

    def spend(self, **what: int) -> None:
        """Take from the budget, as in `spend(lost=1)`."""
        left = {name: getattr(self.budget, name) - count for name, count in what.items()}
        self.budget = self.budget._replace(**left)

    def set_run(self, **changes: Any) -> None:
        self.run = self.run._replace(**changes)

    def set_action(self, key: Key, **changes: Any) -> None:
        self.actions[key] = self.actions[key]._replace(**changes)

    def set_calls(self, p: int, calls: tuple[Call, ...]) -> None:
        self.processes[p] = self.processes[p]._replace(calls=tuple(sorted(calls)))

    def set_call(self, p: int, call: Call, **changes: Any) -> None:
        rest = tuple(other for other in self.processes[p].calls if other != call)
        self.set_calls(p, (*rest, call._replace(**changes)))

    def drop_call(self, p: int, call: Call) -> None:
        self.set_calls(p, tuple(other for other in self.processes[p].calls if other != call))

    def open_case(self, key: Key, kind: CaseKind) -> None:
        self.set_action(key, case=kind)
        self.show_anew(key)

    def close_case(self, key: Key) -> None:
        if self.actions[key].case:
            self.set_action(key, case="")
            self.show_anew(key)

    def show_anew(self, key: Key) -> None:
        """The case of `key` is no longer what a person was shown: its version has grown."""
        if self.look is not None and self.look.key == key:
            self.look = self.look._replace(fresh=False)

    def mark(self, key: Key, fate: Fate, only: tuple[int, ...] | None = None) -> None:
        """The truth about landings under `key`: taken back, or taken as they are by a person."""
        if (kept := self.ledger.get(key)) is not None:
            self.ledger[key] = kept._replace(
                landings=tuple(
                    landing._replace(fate=fate)
                    if (only is None or index in only) and not landing.fate
                    else landing
                    for index, landing in enumerate(kept.landings)
                )
            )

    # Questions

    @property
    def past_pivot(self) -> bool:
        """An irreversible step has landed: from now on the run only goes forward."""
        return any(
            (action := self.actions.get(self.newest(step))) is not None
            and action.status == "landed"
            for step in self.setting.irreversible
        )

    def superseded(self, key: Key) -> bool:
        """A newer generation has taken its place."""
        return key.renewed in self.actions

    def newest(self, step: int) -> Key:
        """The present generation of a step's forward action, whether it is intended yet or not."""
        key = Key(step)
        while key.renewed in self.actions:
            key = key.renewed
        return key

    def undo_of(self, forward: Key) -> Key | None:
        """The present generation of the undo of one forward key; `None` before it is intended."""
        key = Key(forward.step, forward.generation, 1)
        if key not in self.actions:
            return None
        while key.renewed in self.actions:
            key = key.renewed
        return key

    def undos_of(self, forward: Key) -> list[Key]:
        return [key for key in self.actions if key.undo and key.forward == forward]

    def taken_back(self, forward: Key) -> bool:
        """By an undo that landed, by hand, or not at all since a person accepts it."""
        action = self.actions[forward]
        if action.undone or action.answered_for or action.status == "accepted":
            return True
        return any(
            self.actions[undo].status in ("landed", "accepted") for undo in self.undos_of(forward)
        )

    def kept(self, key: Key) -> Kept:
        return self.ledger.get(key, NOTHING_KEPT)

    def shown(self, key: Key) -> int | None:
        """The landing that a probe by `key` finds now."""
        for index, landing in enumerate(self.kept(key).landings):
            if landing.hidden == 0:
                return index
        return None
