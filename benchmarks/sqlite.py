"""The section `sqlite`: the three-step saga on an SQLite file, beside hand-written floors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.figures import Figure, in_turn, middle, ratio, table
from benchmarks.floor import group_floor, single_floor
from benchmarks.options import Options
from benchmarks.product import Written, one_caller, product, written
from benchmarks.progress import say
from benchmarks.report import Report
from benchmarks.waking import waking, waking_table

__all__ = ["measure_sqlite"]

_IN_FLIGHT = (1, 100, 1000)
_ALONE = 300  # sagas are enough where each commit is waited for alone
_WOKEN = 100
_HEADS = ("", "sagas/s", "CPU us", "p50 ms", "p99 ms", "commits", "x one", "x group")
_NOTES = """CPU: of the whole process, a saga. x one, x group: sagas/s against the floor that
commits per transition, and against the one that shares commits. Records, WAL and commits are what
the orchestrator writes; the client's start, one record more, comes before."""

_Way = Callable[[Path, str, int, int], Figure]


def measure_sqlite(options: Options) -> Report:
    """Both workloads with one, a hundred and a thousand in flight."""
    report = Report("sqlite", notes=[_NOTES])
    for workload in ("happy", "compensated"):
        for in_flight in options.in_flight or _IN_FLIGHT:
            figures = _medians(options, workload, in_flight)
            report.figures += figures
            made = _written(options, workload, in_flight)
            report.figures.append(made)
            wal = "" if made.wal is None else f" and {made.wal / 1024:.1f} KB of WAL"
            title = f"{workload}, {in_flight} in flight; {made.records:.2f} records{wal} a saga"
            report.tables.append(f"{title}\n{_table(figures)}")
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=options.folder) as folder:
        woken = waking(Path(folder), min(options.count, _WOKEN))
    report.tables.append(waking_table(woken))
    report.figures += woken
    return report


def _medians(options: Options, workload: str, in_flight: int) -> list[Figure]:
    """The floors and saga in turn, round after round; the median of each."""
    count = min(options.count, _ALONE) if in_flight == 1 else options.count
    ways: dict[str, tuple[_Way, int]] = {
        "one": (single_floor, min(count, _ALONE)),
        "group": (group_floor, count),
        "saga": (product, count),
    }
    if in_flight == 1:
        ways["caller"] = one_caller, count
    bound = {
        name: partial(_in_folder, options.folder, way, workload, size, in_flight)
        for name, (way, size) in ways.items()
    }
    rounds = in_turn(f"{workload}, {in_flight} in flight", options.rounds, bound)
    return [middle(figures) for figures in rounds.values()]


def _in_folder(where: Path, way: _Way, workload: str, count: int, in_flight: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=where) as folder:
        return way(Path(folder), workload, count, in_flight)


def _written(options: Options, workload: str, in_flight: int) -> Written:
    say(f"{workload}, {in_flight} in flight: records and WAL")
    count = min(options.count, _ALONE if in_flight == 1 else 1000)
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=options.folder) as folder:
        return written(Path(folder), workload, count, in_flight)


def _table(figures: Sequence[Figure]) -> str:
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
