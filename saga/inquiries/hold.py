"""A hold: one thing that a run waits for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from saga.views import since

__all__ = ["Hold", "clock_time"]


@dataclass(frozen=True, slots=True)
class Hold:
    """One thing that a run waits for. `rule` is a stable name, `text` says it in a sentence.

    `next_at` is when it is looked at next without anybody's doing; `freed_by` what would end it.
    """

    rule: str
    text: str
    evidence: tuple[str, ...] = ()
    next_at: datetime | None = None
    freed_by: str = ""
    step: str | None = None
    direction: str | None = None


def clock_time(at: float) -> str:
    """A time as it stands in sentences: UTC, to the second."""
    return since(at).isoformat(timespec="seconds")
