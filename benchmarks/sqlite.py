"""The section `sqlite`: the three-step saga on an SQLite file, beside hand-written floors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.figures import Figure, beside_floors, in_turn, middle
from benchmarks.floor import Store, group_floor, single_floor
from benchmarks.options import Options
from benchmarks.product import Written, one_caller, product, written
from benchmarks.progress import say
from benchmarks.report import Report
from benchmarks.stores import FileStore
from benchmarks.waking import waking, waking_table

__all__ = ["measure_sqlite"]

_IN_FLIGHT = (1, 100, 1000)
_ALONE = 300  # sagas are enough where each commit is waited for alone
_WOKEN = 100
_NOTES = """CPU: of the whole process, a saga. x one, x group: sagas/s against the floor that
commits per transition, and against the one that shares commits. Records, WAL and commits are what
the orchestrator writes; the client's start, one record more, comes before."""

_Way = Callable[[Path, int], Figure]  # of so many sagas, in a folder of its own


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
            report.tables.append(f"{title}\n{beside_floors(figures)}")
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=options.folder) as folder:
        woken = waking(Path(folder), min(options.count, _WOKEN))
    report.tables.append(waking_table(woken))
    report.figures += woken
    return report


def _medians(options: Options, workload: str, in_flight: int) -> list[Figure]:
    """The floors and saga in turn, round after round; the median of each."""
    count = min(options.count, _ALONE) if in_flight == 1 else options.count
    ways: dict[str, tuple[_Way, int]] = {
        "one": (partial(_floor, single_floor, workload, in_flight), min(count, _ALONE)),
        "group": (partial(_floor, group_floor, workload, in_flight), count),
        "saga": (partial(_saga, product, workload, in_flight), count),
    }
    if in_flight == 1:
        ways["caller"] = partial(_saga, one_caller, workload, in_flight), count
    bound = {
        name: partial(_in_folder, options.folder, way, size) for name, (way, size) in ways.items()
    }
    rounds = in_turn(f"{workload}, {in_flight} in flight", options.rounds, bound)
    return [middle(figures) for figures in rounds.values()]


def _in_folder(where: Path, way: _Way, count: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=where) as folder:
        return way(Path(folder), count)


def _floor(
    floor: Callable[[Store, str, int, int], Figure],
    workload: str,
    in_flight: int,
    folder: Path,
    count: int,
) -> Figure:
    with closing(FileStore(folder / "floor.db", count)) as store:
        return floor(store, workload, count, in_flight)


def _saga(
    way: Callable[[str, str, int, int], Figure],
    workload: str,
    in_flight: int,
    folder: Path,
    count: int,
) -> Figure:
    return way(f"sqlite:///{folder / 'saga.db'}", workload, count, in_flight)


def _written(options: Options, workload: str, in_flight: int) -> Written:
    say(f"{workload}, {in_flight} in flight: records and WAL")
    count = min(options.count, _ALONE if in_flight == 1 else 1000)
    with tempfile.TemporaryDirectory(prefix="sqlite-", dir=options.folder) as folder:
        return written(Path(folder), workload, count, in_flight)
