"""The brake: which new calls are not to be made now. We leave, or somebody has paused."""

from __future__ import annotations

from saga.machine.state import FORWARD
from saga.orchestrator.held import Held

__all__ = ["Brake"]


class Brake:
    """`stopping`: no call at all. `paused`: no forward one of these, as (kind, name)."""

    def __init__(self) -> None:
        self.stopping = False
        self.paused: frozenset[tuple[str, str]] = frozenset()

    def blocks(self, run: Held, position: int, direction: str) -> bool:
        """Whether calls of a step (its position) in a direction are not to be made."""
        if self.stopping:
            return True
        if not self.paused or direction != FORWARD:
            return False
        step = run.saga.spec.steps[position]
        return not self.paused.isdisjoint(
            (
                ("saga", run.saga.spec.name),
                ("effect", step.effect.name),
                ("provider", step.effect.provider.name),
            )
        )

    def holds(self, run: Held) -> bool:
        """Whether a pause keeps a run from going forward."""
        return bool(self.paused) and any(
            self.blocks(run, position, FORWARD) for position in run.state.ready
        )
