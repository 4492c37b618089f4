"""What is recorded where a budget counts it, beside the intents and sendings that it counts."""

from __future__ import annotations

from typing import ClassVar

from saga.machine.facts import fact

__all__ = ["BudgetRaised", "ProbeBegun", "ProbeEnded"]


@fact
class ProbeBegun:
    """The provider may be asked from now on: one more call, whatever becomes of it."""

    kind: ClassVar[str] = "probe_begun"
    key: str


@fact
class ProbeEnded:
    """That probe has been answered, or died with its process; another one counts again."""

    kind: ClassVar[str] = "probe_ended"
    key: str


@fact
class BudgetRaised:
    """From now on this run may use up to `limit` (exact text) of what the budget calls `budget`."""

    kind: ClassVar[str] = "budget_raised"
    budget: str
    limit: str
