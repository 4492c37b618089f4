"""How an action is called.

The product's keys are texts (`{run}/{step}/...~{generation}/undo@...`); here a key is a small tuple
that prints in the same shape: `step 1`, `step 1~2`, `step 1/undo`, `step 1~2/undo~2`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Key"]


class Key(NamedTuple):
    """An action and, since a key is never shared or made twice, its idempotency key.

    "Generation: a second life of an action under a new key, after the first was settled as not
    landed." An undo belongs to one generation of a forward action and has generations of its own.
    """

    step: int
    generation: int = 1
    undo: int = 0  # 0: the forward action; from 1 on: a generation of its undo

    def __str__(self) -> str:
        text = f"step {self.step}"
        if self.generation > 1:
            text += f"~{self.generation}"
        if self.undo:
            text += "/undo" + (f"~{self.undo}" if self.undo > 1 else "")
        return text

    @property
    def forward(self) -> Key:
        """What an undo reverses; a forward action itself."""
        return Key(self.step, self.generation)

    @property
    def renewed(self) -> Key:
        """The next generation."""
        if self.undo:
            return Key(self.step, self.generation, self.undo + 1)
        return Key(self.step, self.generation + 1)

    @property
    def lives(self) -> int:
        """Which generation it is."""
        return self.undo or self.generation

    @property
    def action(self) -> tuple[int, int]:
        """What all generations of one action have in common."""
        return (self.step, self.generation) if self.undo else (self.step, 0)
