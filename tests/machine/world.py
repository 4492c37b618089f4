"""The outside of a walk: what really landed, under which key, and what is still on its way.

It knows what the machine can only be told. It keeps the promises that the definition declares and
nothing beyond them: a request lands at most `in_flight` after its deadline, an effect shows in a
probe at most `visible_after` later, a key is kept for `key_life`. Two landings where one was
promised, or an action that lands after it was taken back, break a law at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from saga.definition.spec import ContractSpec
from saga.machine.state import FORWARD, Action, RunState

__all__ = ["Landing", "LawBroken", "UnderWay", "World"]


class LawBroken(AssertionError):
    """A law of design section 8, by number, and what broke it."""

    def __init__(self, law: str, detail: str) -> None:
        super().__init__(f"law {law}: {detail}")
        self.law = law


@dataclass(slots=True)
class Landing:
    """One effect outside. `receipt` tells it from a second one under the same key."""

    receipt: str
    at: float
    taken_back: bool = False


@dataclass(frozen=True, slots=True, order=True)
class UnderWay:
    """A request that has left and will land by `latest`.

    `unbound`: nobody could cut it off. `late`: it may break the promise of `in_flight`.
    """

    key: str
    latest: float
    unbound: bool = False
    late: bool = False


@dataclass(slots=True)
class World:
    """Everything outside."""

    landings: dict[str, list[Landing]] = field(default_factory=dict)
    under_way: list[UnderWay] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)  # keys that are refused for good
    silent: set[tuple[str, int]] = field(default_factory=set)  # carried out, and no answer comes
    threads: set[tuple[str, int]] = field(default_factory=set)  # calls that nobody can cut off
    late: set[str] = field(default_factory=set)  # keys that landed by a broken promise

    def copy(self) -> World:
        return World(
            {
                key: [Landing(one.receipt, one.at, one.taken_back) for one in ones]
                for key, ones in self.landings.items()
            },
            list(self.under_way),
            set(self.refused),
            set(self.silent),
            set(self.threads),
            set(self.late),
        )

    def remembers(self, action: Action, contract: ContractSpec, now: float) -> Landing | None:
        """The landing that a request under this key is answered from, without a second effect."""
        life = contract.provider.key_life
        ones = self.landings.get(action.key)
        return ones[0] if life is not None and ones and now - ones[-1].at < life else None

    def land(
        self,
        state: RunState,
        action: Action,
        contract: ContractSpec,
        now: float,
        *,
        late: bool = False,
    ) -> str:
        """A request arrives and is carried out; the receipt that it gives."""
        known = self.remembers(action, contract, now)
        if known is not None:
            return known.receipt
        before = self.landings.setdefault(action.key, [])
        if before:
            raise LawBroken("2", f"{action.key} has landed twice")
        for other in state.actions.values():
            same = other.step, other.item, other.of_key
            twin = same == (action.step, action.item, action.of_key)
            unsafe = twin and not late and other.key not in self.late
            if unsafe and other.key != action.key and self.landings.get(other.key):
                raise LawBroken("2", f"{other.key} and {action.key} have both landed")
        if action.direction == FORWARD and not late and self._was_undone(state, action):
            raise LawBroken("9", f"{action.key} has landed after its undo")
        before.append(Landing(f"{action.key}=", now))
        if late:
            self.late.add(action.key)
        if action.of_key is not None:
            ones = self.landings.get(action.of_key, [])
            kept = not late and not any(state.actions[k].of_key == action.of_key for k in self.late)
            if kept and ones and all(one.taken_back for one in ones):
                raise LawBroken("2", f"{action.of_key} is taken back twice")
            self.take_back(action.of_key)
        return before[-1].receipt

    def _was_undone(self, state: RunState, action: Action) -> bool:
        undo = state.undo_of(action)
        return undo is not None and undo.key in self.landings

    def take_back(self, key: str) -> None:
        """What has landed under `key` is reversed: by its undo, or by a person's hands."""
        for one in self.landings.get(key, ()):
            one.taken_back = True

    def shows(self, action: Action, contract: ContractSpec, now: float) -> set[str]:
        """The answers that a probe by key may give now."""
        ones = self.landings.get(action.key)
        if ones and now - ones[0].at >= (contract.provider.visible_after or 0.0):
            return {"landed"}
        moving = any(one.key == action.key for one in self.under_way)
        return {"absent"} | ({"landed"} if ones else set()) | ({"in_progress"} if moving else set())
