"""What a measurement gives: numbers, their medians over rounds, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any, TypeVar

from benchmarks.progress import say

__all__ = ["Figure", "beside_floors", "in_turn", "middle", "quantile", "ratio", "table"]

_HEADS = ("", "sagas/s", "CPU us", "p50 ms", "p99 ms", "commits", "x one", "x group")

F = TypeVar("F")


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


def ratio(ours: float, other: float) -> float:
    """How many times `other` we are; 0 if nothing was measured."""
    return ours / other if other else 0.0


def in_turn(what: str, rounds: int, ways: Mapping[str, Callable[[], F]]) -> dict[str, Sequence[F]]:
    """Every way once a round, so that all of them meet the same weather; results by name."""
    found: dict[str, list[F]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, way in ways.items():
            say(f"{what}, round {number + 1} of {rounds}: {name}")
            found[name].append(way())
    return dict(found)


def middle(rounds: Sequence[F]) -> F:
    """The median of each number over the rounds of one measurement; the rest is that of the first.

    `F` is a frozen dataclass. Whole numbers are sizes that were asked for, and stay.
    """
    first: Any = rounds[0]
    numbers = [field.name for field in fields(first) if type(getattr(first, field.name)) is float]
    values = {field.name: getattr(first, field.name) for field in fields(first)}
    medians = {name: median(getattr(one, name) for one in rounds) for name in numbers}
    made: F = type(first)(**{**values, **medians})
    return made


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they must be, the first one to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def beside_floors(figures: Sequence[Figure]) -> str:
    """The table of figures of which the first two are the floors, one commit each and shared."""
    single, group, *_ = figures
    return table([_HEADS, *(_row(figure, single, group) for figure in figures)])


def _row(figure: Figure, single: Figure, group: Figure) -> tuple[str, ...]:
    return (
        figure.who,
        f"{figure.sagas_per_second:,.0f}",
        f"{figure.cpu:.0f}",
        f"{figure.p50:.2f}",
        f"{figure.p99:.2f}",
        f"{figure.commits:.3f}",
        f"{ratio(figure.sagas_per_second, single.sagas_per_second):.2f}",
        f"{ratio(figure.sagas_per_second, group.sagas_per_second):.2f}",
    )
