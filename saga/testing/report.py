"""What an exploration found, and how much of the ground it covered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from saga.testing.violation import Violation

__all__ = ["Found", "Report"]


@dataclass(frozen=True, slots=True)
class Found:
    """A law that did not hold, or a failure of the orchestrator itself, and the way there."""

    violation: Violation | None
    failure: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        what = str(self.violation) if self.violation is not None else f"failed: {self.failure}"
        return "\n".join(
            [what, *(f"    {number}. {step}" for number, step in enumerate(self.trace, 1))]
        )


@dataclass(slots=True)
class Report:
    """`ok` if all laws held. The counts are the same each time; a fall of them is a loss of cover.

    `states`: durable states, each explored. `runs`: lives of real orchestrators. `points`: fault
    points of the fault-free ones; `faults`: what was done to them. `calls`, `probes` and
    `transactions` were made in all lives. `ends`: how the lives that came to rest found the run.
    """

    saga: str
    states: int = 0
    runs: int = 0
    points: int = 0
    calls: int = 0
    probes: int = 0
    transactions: int = 0
    seconds: float = 0.0
    complete: bool = True
    faults: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.found

    @property
    def violations(self) -> list[Violation]:
        """The laws that did not hold."""
        return [one.violation for one in self.found if one.violation is not None]

    @property
    def laws(self) -> set[int]:
        """The numbers of the laws that did not hold."""
        return {one.law for one in self.violations}

    def counts(self) -> dict[str, int]:
        """What the exploration covered, to be compared with what it covered before."""
        return {
            "states": self.states,
            "runs": self.runs,
            "points": self.points,
            "calls": self.calls,
            "probes": self.probes,
            "transactions": self.transactions,
        }

    def __str__(self) -> str:
        rate = self.runs / self.seconds if self.seconds else 0.0
        counts = ", ".join(f"{count} {name}" for name, count in self.counts().items())
        ends = ", ".join(f"{count} {name}" for name, count in sorted(self.ends.items()))
        faults = ", ".join(f"{count} x {name}" for name, count in sorted(self.faults.items()))
        reached = "fix point reached" if self.complete else "not all states were explored"
        lines = [
            f"{self.saga}: {counts} in {self.seconds:.1f} s ({rate:.0f} runs/s)",
            f"  ends: {ends}",
            f"  faults: {faults}",
            f"  {reached}; {len(self.found)} violations",
        ]
        return "\n".join([*lines, *map(str, self.found)])
