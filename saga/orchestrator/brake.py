"""The brake: which new calls are not to be made now. We leave, it is paused, or others go first."""

from __future__ import annotations

from saga.definition.spec import StepSpec
from saga.machine.state import FORWARD, Action
from saga.orchestrator.held import Held
from saga.orchestrator.suspects import Suspects

__all__ = ["Brake"]


class Brake:
    """`stopping`: no call at all. `paused`: no forward one of these, as (kind, name).

    `suspects`: one run after the other.
    """

    def __init__(self) -> None:
        self.stopping = False
        self.suspects = Suspects()
        self.paused: frozenset[tuple[str, str]] = frozenset()

    def blocks(self, run: Held, step: StepSpec, direction: str, action: Action | None) -> bool:
        """Whether calls of a step in a direction are not to be made.

        `action`: the one to send again, or the generation before the one to begin.
        """
        if self.stopping or self._is_paused(run, step, direction):
            return True
        return self.suspects.blocks(run, action)

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
