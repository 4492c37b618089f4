"""The section `peers`: the same saga on other products, in turn with ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.figures import in_turn, middle, ratio, table
from benchmarks.options import Options
from benchmarks.peers.catalogue import OURS, Contender, contenders
from benchmarks.peers.timing import Timing
from benchmarks.peers.venvs import NotInstalledError, python_of
from benchmarks.progress import say
from benchmarks.report import Report

__all__ = ["measure_peers"]

_ROOT = Path(__file__).parents[2]
_IN_FLIGHT = (1, 100)
_ALONE = 300  # sagas one after the other are enough
_LEAST = 20
_PATIENCE = 600.0  # seconds for one measurement
_HEADS = ("", "sagas/s", "CPU us", "p50 ms", "p99 ms", "ours is", "fsync")
_NOTES = """Each figure is that of a process of its own. CPU: of that process, a saga. ours is: how
many times as many sagas/s `saga` makes. fsync: shared by all that wait for it, or one for each
commit. Latency with many in flight: of saga from claim to end, of others from call to return."""


@dataclass(frozen=True, slots=True)
class _Figure:
    who: str
    workload: str
    in_flight: int
    sagas_per_second: float
    cpu: float  # microseconds a saga
    p50: float
    p99: float
    fsync: str


def measure_peers(options: Options) -> Report:
    """Both workloads, one at a time and a hundred in flight."""
    report = Report("peers")
    pythons = _pythons(options, report)
    met: dict[str, Contender] = {}
    for workload in ("happy", "compensated"):
        for in_flight in options.in_flight or _IN_FLIGHT:
            there = [one for one in contenders(options.peers, in_flight) if one.peer in pythons]
            met |= {one.who: one for one in there}
            figures = _medians(options, pythons, there, workload, in_flight)
            report.figures += figures
            report.failed |= len(figures) < len(there)
            report.tables.append(f"{workload}, {in_flight} in flight\n{_table(figures)}")
    report.notes = [_NOTES, *(f"{who}: {one.durable}" for who, one in met.items()), *report.notes]
    return report


def _pythons(options: Options, report: Report) -> dict[str, Path]:
    """The Python of each peer that can be installed, and of ours under the empty name."""
    found = {"": Path(sys.executable)}
    for peer in options.peers:
        try:
            found[peer] = python_of(peer, options.folder / "peers")
        except NotInstalledError as error:
            report.notes.append(f"{peer} is missing: {error}")
            report.failed = True
            say(str(error))
    return found


def _medians(
    options: Options,
    pythons: dict[str, Path],
    there: Sequence[Contender],
    workload: str,
    in_flight: int,
) -> list[_Figure]:
    count = min(options.count, _ALONE) if in_flight == 1 else options.count
    ways = {
        one.who: partial(_run, options, pythons[one.peer], one, workload, count, in_flight)
        for one in there
    }
    rounds = in_turn(f"{workload}, {in_flight} in flight", options.rounds, ways)
    done = ([one for one in figures if one is not None] for figures in rounds.values())
    return [middle(figures) for figures in done if figures]


def _run(
    options: Options, python: Path, one: Contender, workload: str, count: int, in_flight: int
) -> _Figure | None:
    """One measurement in a process of its own; `None` if it failed, and stderr says how."""
    count = max(int(count * one.share), min(_LEAST, count))
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    env |= {"PYTHONPATH": str(_ROOT), **one.settings}
    with tempfile.TemporaryDirectory(prefix="peers-", dir=options.folder) as folder:
        words = [folder, workload, str(count), str(in_flight)]
        command = [str(python), "-m", f"benchmarks.peers.{one.program}", *words]
        try:
            done = subprocess.run(
                command,
                cwd=_ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                timeout=_PATIENCE,
                check=True,
            )
        except subprocess.SubprocessError as error:
            say(f"{one.who}: {error}")
            return None
    timing = Timing(**json.loads(done.stdout.splitlines()[-1]))
    speed, cpu = timing.count / timing.seconds, timing.cpu * 1e6 / timing.count
    return _Figure(one.who, workload, in_flight, speed, cpu, timing.p50, timing.p99, one.fsync)


def _table(figures: Sequence[_Figure]) -> str:
    ours = next((one.sagas_per_second for one in figures if one.who == OURS[0].who), 0.0)
    return table([_HEADS, *(_row(figure, ours) for figure in figures)])


def _row(figure: _Figure, ours: float) -> tuple[str, ...]:
    return (
        figure.who,
        f"{figure.sagas_per_second:,.0f}",
        f"{figure.cpu:,.0f}",
        f"{figure.p50:,.2f}",
        f"{figure.p99:,.2f}",
        f"{ratio(ours, figure.sagas_per_second):.2f} x",
        figure.fsync,
    )
