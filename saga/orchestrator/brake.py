"""The brake: which calls are not to be made now.

We leave, it is paused, others go first, or there is no room.
"""

from __future__ import annotations

from saga.definition.spec import StepSpec
from saga.machine.state import FORWARD
from saga.orchestrator.held import Due, Held
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.suspects import Suspects

__all__ = ["Brake"]


class Brake:
    """`stopping`: no call at all. `paused`: no forward one of these, as (kind, name).

    `suspects`: one run after the other. `lanes`: as many as there is room for.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.stopping = False
        self.suspects = Suspects()
        self.paused: frozenset[tuple[str, str]] = frozenset()
        self._held: set[str] = set()  # runs that a pause keeps from a call

    @property
    def released(self) -> bool:
        """Nothing is stopped or paused."""
        return not (self.stopping or self.paused)

    @property
    def held_up(self) -> int:
        """How many runs wait only for the end of a pause, or for room to call."""
        return len(self._held) + self.lanes.standing

    def blocks(self, run: Held, due: Due) -> bool:
        """Whether a call that is due is not to be made now."""
        if self._is_paused(run, due.step, due.direction):
            self._held.add(run.run_id)
            return True
        if self.stopping:
            return True
        return self.suspects.blocks(run, due.action) or self.lanes.blocks(run, due)

    def blocks_probe(self, run: Held, key: str) -> bool:
        """Whether a probe is not to be made now."""
        return self.stopping or self.lanes.blocks_probe(run, key)

    def begin(self, run: Held) -> None:
        """It is about to be decided on."""
        self._held.discard(run.run_id)

    def forget(self, run: Held) -> None:
        """It is not ours any more."""
        self._held.discard(run.run_id)
        self.suspects.forget(run)
        self.lanes.forget(run)

    def holds(self, run: Held) -> bool:
        """Whether a pause keeps a run from going forward."""
        return bool(self.paused) and any(
            self.stopping or self._is_paused(run, run.saga.spec.steps[position], FORWARD)
            for position in run.state.ready
        )

    def _is_paused(self, run: Held, step: StepSpec, direction: str) -> bool:
        if not self.paused or direction != FORWARD:
            return False
        return not self.paused.isdisjoint(
            (
                ("saga", run.saga.spec.name),
                ("effect", step.effect.name),
                ("provider", step.effect.provider.name),
            )
        )
