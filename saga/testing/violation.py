"""A law that does not hold, and where."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LAWS", "Violation"]

LAWS = {
    1: "No call without a durable intent and sending",
    2: "At most one effect per key, at most one landed generation per action",
    3: "Every landed effect is in a completed step, undone, in an open case, or accepted",
    4: "Every run that has not ended has a live owner, a due time or an open case",
    5: "Sequence and state version have no gap",
    6: "An owner that lost its fence appends nothing and calls nothing",
    7: "Phase and outcome of an ended run never change",
    8: "Compensated only when nothing is unknown and all that landed is taken back",
    9: "No undo while a transitive successor is unknown",
    10: "At most one open case per action",
    11: "A verdict binds to what its person was shown",
    12: "A missing field never means approved, done or absent",
    13: "What follows from a result is committed with it",
    14: "Replay gives the stored state",
    15: "No unbounded text in journal, log or page",
}
"""The laws by number, as `docs/architecture.md` has them, in a line each."""


@dataclass(frozen=True, slots=True)
class Violation:
    """`law` is its number, `run_id` the run (empty: none), `detail` what was found."""

    law: int
    run_id: str
    detail: str

    def __str__(self) -> str:
        where = f"run {self.run_id}: " if self.run_id else ""
        return f"law {self.law} ({LAWS.get(self.law, '')}): {where}{self.detail}"
