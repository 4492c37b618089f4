"""`python -m benchmarks`: measure on SQLite, print a table with ratios, write JSON."""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Figure, middle, table, write_json
from benchmarks.floor import group_floor, single_floor
from benchmarks.product import one_caller, product

IN_FLIGHT = (1, 100, 1000)


def main() -> int:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(
        prog="dev.py bench",
        description="Sagas a second, CPU and latency of the three-step saga, beside hand-written "
        "floors in the same run. Medians of interleaved rounds; trust the ratios.",
    )
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument(
        "--count", type=int, default=3000, help="sagas a measurement (default 3000)"
    )
    parser.add_argument("--json", type=Path, default=None, help="write the figures to this file")
    arguments = parser.parse_args()
    gc.freeze()  # as `saga orchestrator` does
    groups = [
        _measure(workload, in_flight, arguments.count, arguments.rounds)
        for workload in ("happy", "compensated")
        for in_flight in IN_FLIGHT
    ]
    print(_report(groups))
    if arguments.json is not None:
        write_json(arguments.json, [figure for group in groups for figure in group])
    return 0


def _measure(workload: str, in_flight: int, count: int, rounds: int) -> list[Figure]:
    """The floors and saga in turn, round after round; the median of each."""
    if in_flight == 1:
        count = min(count, 300)
    ways: list[Callable[[Path, str, int, int], Figure]] = [single_floor, group_floor, product]
    if in_flight == 1:
        ways.append(one_caller)
    found: list[list[Figure]] = [[] for _ in ways]
    for number in range(rounds):
        print(f"{workload}, {in_flight} in flight, round {number + 1} of {rounds}", file=sys.stderr)
        for way, figures in zip(ways, found, strict=True):
            with tempfile.TemporaryDirectory(prefix="saga-bench-", dir=".") as folder:
                figures.append(way(Path(folder).absolute(), workload, count, in_flight))
    return [middle(figures) for figures in found]


def _report(groups: list[list[Figure]]) -> str:
    heads = (
        "",
        "in flight",
        "sagas/s",
        "CPU us",
        "p50 ms",
        "p99 ms",
        "commits",
        "x one",
        "x group",
    )
    rows: list[tuple[str, ...]] = [heads]
    for single, group, *ours in groups:
        rows += [_row(figure, single, group) for figure in (single, group, *ours)]
    return table(rows)


def _row(figure: Figure, single: Figure, group: Figure) -> tuple[str, ...]:
    return (
        f"{figure.workload}: {figure.who}",
        str(figure.in_flight),
        f"{figure.sagas_per_second:,.0f}",
        f"{figure.cpu:.0f}",
        f"{figure.p50:.2f}",
        f"{figure.p99:.2f}",
        f"{figure.commits:.3f}",
        f"{figure.sagas_per_second / single.sagas_per_second:.2f}",
        f"{figure.sagas_per_second / group.sagas_per_second:.2f}",
    )


if __name__ == "__main__":
    sys.exit(main())
