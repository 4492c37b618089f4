"""How far each step of a run is, forward and back, kept with every event so that nothing scans.

A step has items: an `Each` those of its list, any other the one that is called `None`. What a step
still holds back of the undoing is counted from when the run winds down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saga.machine.state import Action

__all__ = ["Items", "Progress", "WayBack"]


@dataclass(slots=True)
class Items:
    """The items of an `Each`, once its list is known: their names, in order, with positions."""

    positions: dict[str, int]
    order: list[str]
    unknown: dict[str, set[str]] = field(default_factory=dict)  # by target: keys
    aside: set[str] = field(default_factory=set)  # keys that are unknown or a person's: not moving


@dataclass(slots=True)
class Progress:
    """One step, going forward."""

    waits_for: int  # of the steps that it directly follows: how many are not done
    newest: dict[str | None, Action] = field(default_factory=dict)  # generation, by item
    done: int = 0  # items that landed or were skipped
    items: Items | None = None  # of an `Each`

    @property
    def size(self) -> int:
        """How many items there are, as far as it is known."""
        return 1 if self.items is None else len(self.items.order)


@dataclass(slots=True)
class WayBack:
    """One step, being undone, with the run (`""`) or back to a savepoint."""

    region: str
    holding: int = 0  # items that hold back the undos of what comes before
    behind: int = 0  # of the steps that directly follow: how many are not clear
    clear: bool = False  # it holds nothing back, and neither does anything that follows
    to_undo: dict[str | None, Action] = field(default_factory=dict)  # landed, undo not intended
    undoing: set[str | None] = field(default_factory=set)  # items whose undo is under way
