"""What a measurement gives, as a table on the screen and as JSON in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

__all__ = ["Figure", "middle", "quantile", "table", "write_json"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One way of doing one workload. Latencies in milliseconds, CPU in microseconds a saga."""

    who: str
    workload: str
    in_flight: int
    sagas_per_second: float
    cpu: float
    p50: float
    p99: float
    commits: float  # a saga


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def middle(rounds: Sequence[Figure]) -> Figure:
    """The median of each number over interleaved rounds of one measurement."""
    first = rounds[0]
    return Figure(
        first.who,
        first.workload,
        first.in_flight,
        *(
            median(getattr(figure, name) for figure in rounds)
            for name in ("sagas_per_second", "cpu", "p50", "p99", "commits")
        ),
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they must be, the first one to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def write_json(path: Path, figures: Sequence[Figure]) -> None:
    """All figures, one object each."""
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
