"""The section `peers`: the same saga on other products, in turn with ours.

What works on files and what works on PostgreSQL is measured and shown apart. The server is one that
the tests would use, with `fsync` on; every measurement has a database of its own there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.figures import in_turn, middle, ratio, table
from benchmarks.options import Options
from benchmarks.peers.catalogue import OURS, PEERS, Contender, contenders
from benchmarks.peers.running import Figure, measured
from benchmarks.peers.venvs import NotInstalledError, python_of
from benchmarks.progress import say
from benchmarks.report import Report
from tests.postgres.server import Server, served

__all__ = ["measure_peers"]

_IN_FLIGHT = (1, 100)
_ALONE = 300  # sagas one after the other are enough
_LEAST = 20
_HEADS = ("", "sagas/s", "CPU us", "p50 ms", "p99 ms", "ours is")
_FILES = ("fsync",)
_SERVER = ("server us", "commits")
_NOTES = """Each figure is that of a process of its own. CPU: of that process, a saga; server: of
the PostgreSQL server. ours is: how many times as many sagas/s `saga` makes there. fsync: shared by
all that wait for it, or one for each commit. commits: those of the server that wrote, a
saga. Latency with many in flight: of saga and Absurd from claim to end, of others from call to
return."""


def measure_peers(options: Options) -> Report:
    """Both workloads, one at a time and a hundred in flight; on files, then on a server."""
    report = Report("peers")
    pythons = _pythons(options, report)
    met: list[Contender] = []
    for on_server in (False, True):
        sizes = options.in_flight or _IN_FLIGHT
        every = {size: contenders(options.peers, size, server=on_server) for size in sizes}
        if not any(every.values()):
            continue
        with ExitStack() as stack:
            server = stack.enter_context(served(fsync=True)) if on_server else None
            for workload in ("happy", "compensated"):
                for in_flight, all_of_them in every.items():
                    there = [one for one in all_of_them if one.peer in pythons]
                    met += there
                    figures = _medians(options, pythons, server, there, (workload, in_flight))
                    report.figures += figures
                    report.failed |= len(figures) < len(there)
                    title = f"{workload}, {in_flight} in flight, on {there[0].where}"
                    report.tables.append(f"{title}\n{_table(figures)}")
    promised = dict.fromkeys(f"{one.who}: {one.durable}" for one in (*OURS, *PEERS) if one in met)
    report.notes = [_NOTES, *promised, *report.notes]
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
    server: Server | None,
    there: Sequence[Contender],
    what: tuple[str, int],
) -> list[Figure]:
    workload, in_flight = what
    count = min(options.count, _ALONE) if in_flight == 1 else options.count
    least = min(max(_LEAST, 2 * in_flight), count)
    ways = {
        one.who: partial(
            measured,
            one,
            pythons[one.peer],
            server,
            options.folder,
            (workload, max(int(count * one.share), least), in_flight),
        )
        for one in there
    }
    title = f"{workload}, {in_flight} in flight, on {there[0].where}"
    rounds = in_turn(title, options.rounds, ways)
    done = ([one for one in figures if one is not None] for figures in rounds.values())
    return [middle(figures) for figures in done if figures]


def _table(figures: Sequence[Figure]) -> str:
    ours = next((one.sagas_per_second for one in figures if one.who == OURS[0].who), 0.0)
    more = _SERVER if any(one.commits for one in figures) else _FILES
    return table([_HEADS + more, *(_row(figure, ours) for figure in figures)])


def _row(figure: Figure, ours: float) -> tuple[str, ...]:
    more = (f"{figure.server:,.0f}", f"{figure.commits:.2f}") if figure.commits else (figure.fsync,)
    return (
        figure.who,
        f"{figure.sagas_per_second:,.0f}",
        f"{figure.cpu:,.0f}",
        _milliseconds(figure.p50),
        _milliseconds(figure.p99),
        f"{ratio(ours, figure.sagas_per_second):.2f} x",
        *more,
    )


def _milliseconds(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
