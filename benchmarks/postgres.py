"""The section `postgres`: the three-step saga on a server of our own, and more than one process.

The server is one that the tests would use, with `fsync` on; it shares the cores with what is
measured.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from benchmarks.figures import Figure, beside_floors, in_turn, middle
from benchmarks.floor import Store, group_floor, single_floor
from benchmarks.metering import Reading, fresh, metered
from benchmarks.options import Options
from benchmarks.product import drain, names, one_caller, product, start
from benchmarks.progress import say
from benchmarks.report import Report
from benchmarks.sharing import sharing, sharing_table
from benchmarks.stores import ServerStore
from saga import Client
from tests.postgres.server import Server, served

__all__ = ["measure_postgres"]

_IN_FLIGHT = (1, 100, 1000)
_ALONE = 300  # sagas are enough where each commit is waited for alone
_NOTES = """CPU: of the orchestrator's process, a saga. Above each table, a saga too: records, WAL,
what of it is whole pages, and the CPU of the server, without the client's start, which is one
record more. A page is written whole when it changes for the first time after a checkpoint, and one
is made just before: among more sagas it is less of each. x one, x group: sagas/s against the floor
that commits per transition, and against the one that shares commits."""


@dataclass(frozen=True, slots=True)
class _Written:
    """Records, bytes of WAL, and microseconds of the server's CPU, a saga.

    `pages`: those bytes of it that are whole pages, right after a checkpoint.
    """

    workload: str
    in_flight: int
    records: float
    wal: float
    pages: float
    server: float


def measure_postgres(options: Options) -> Report:
    """Both workloads with one, a hundred and a thousand in flight; then one to four processes."""
    report = Report("postgres", notes=[_NOTES])
    with served(fsync=True) as server:
        for workload in ("happy", "compensated"):
            for in_flight in options.in_flight or _IN_FLIGHT:
                figures = _medians(server, options, workload, in_flight)
                made = _written(server, options, workload, in_flight)
                report.figures += [*figures, made]
                title = (
                    f"{workload}, {in_flight} in flight: {made.records:.2f} records,"
                    f" WAL {made.wal / 1024:.1f} KB, pages {made.pages / 1024:.1f},"
                    f" server {made.server:.0f} us"
                )
                report.tables.append(f"{title}\n{beside_floors(figures)}")
        shared = sharing(partial(fresh, server), options)
    report.tables.append(sharing_table(shared))
    report.figures += shared
    return report


def _medians(server: Server, options: Options, workload: str, in_flight: int) -> list[Figure]:
    """The floors and saga in turn, round after round; the median of each."""
    count = min(options.count, _ALONE) if in_flight == 1 else options.count
    ways = {
        "one": partial(_floor, server, single_floor, workload, min(count, _ALONE), in_flight),
        "group": partial(_floor, server, group_floor, workload, count, in_flight),
        "saga": partial(_saga, server, product, workload, count, in_flight),
    }
    if in_flight == 1:
        ways["caller"] = partial(_saga, server, one_caller, workload, count, in_flight)
    rounds = in_turn(f"{workload}, {in_flight} in flight", options.rounds, ways)
    return [middle(figures) for figures in rounds.values()]


def _floor(
    server: Server,
    floor: Callable[[Store, str, int, int], Figure],
    workload: str,
    count: int,
    in_flight: int,
) -> Figure:
    with fresh(server, schema=False) as url, closing(ServerStore(url, count)) as store:
        return floor(store, workload, count, in_flight)


def _saga(
    server: Server,
    way: Callable[[str, str, int, int], Figure],
    workload: str,
    count: int,
    in_flight: int,
) -> Figure:
    with fresh(server) as url:
        return way(url, workload, count, in_flight)


def _written(server: Server, options: Options, workload: str, in_flight: int) -> _Written:
    say(f"{workload}, {in_flight} in flight: records and WAL")
    count = min(options.count, _ALONE if in_flight == 1 else 1000)
    with fresh(server) as url, closing(Client(url)) as client, metered(url) as meter:
        start(client, workload, names(count))
        meter.checkpoint()
        readings = list[Reading]()
        drain(url, names(count), in_flight, lambda: readings.append(meter.read()))
        before, after = readings
        records = sum(len(client.journal(run_id)) - 1 for run_id in names(count))
        pages = meter.pages(before, after)
    wal, cpu = after.wal - before.wal, (after.cpu - before.cpu) * 1e6
    made = (one / count for one in (records, wal, pages, cpu))
    return _Written(workload, in_flight, *made)
