"""saga itself: runs that have been started are claimed and run to their end by one orchestrator."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from benchmarks.figures import Figure, quantile
from benchmarks.workload import COMPENSATED, HAPPY, app, order
from saga import Client, Orchestrator
from saga.journal.sqlite import library

__all__ = [
    "Driven",
    "Watch",
    "Written",
    "call",
    "drain",
    "feed",
    "figure",
    "names",
    "one_caller",
    "product",
    "start",
    "written",
]

Watch: TypeAlias = Callable[[], object]  # called where measuring begins, and where it ends

_WHO = "saga"
_ROOM = 1000  # runs at once, as by default
_RECORDS = "SELECT count(*) FROM journal"
_SAMPLE = 500  # runs whose latency is read from their records


def _unwatched() -> None:
    """Nobody looks."""


@dataclass(slots=True)
class Driven:
    """What running some sagas took. Latencies in milliseconds, the rest in seconds."""

    count: int
    seconds: float
    cpu: float
    commits: int
    latencies: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """Records, and bytes of WAL, a saga; `None` where this SQLite library keeps no WAL."""

    workload: str
    in_flight: int
    records: float
    wal: float | None


def names(count: int) -> list[str]:
    """Run ids that grow, as those of orders do."""
    return [f"r-{number:08d}" for number in range(count)]


def start(client: Client, workload: str, run_ids: Sequence[str]) -> list[float]:
    """Start runs one after the other; milliseconds of each start."""
    saga, spent = HAPPY if workload == "happy" else COMPENSATED, []
    for number, run_id in enumerate(run_ids):
        began = time.perf_counter()
        client.start(saga, order(number), run_id=run_id)
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def drain(url: str, run_ids: Sequence[str], in_flight: int, watch: Watch = _unwatched) -> Driven:
    """Run what is waiting, with room for `in_flight` at once.

    Claiming, reading and verifying are part of what is measured; the clients' starts are not.
    """

    async def work(orchestrator: Orchestrator) -> None:
        await orchestrator.run_until_idle()

    driven = asyncio.run(_measured(url, len(run_ids), work, in_flight, watch))
    driven.latencies = _from_records(url, run_ids)
    return driven


def feed(
    url: str,
    workload: str,
    run_ids: Sequence[str],
    in_flight: int,
    watch: Watch = _unwatched,
) -> Driven:
    """Start the runs and run them to their end at the same time, in one process.

    Both take turns at writing. Latency is as in `drain`.
    """

    async def work(orchestrator: Orchestrator) -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def caller() -> None:
            with closing(Client(url)) as client:
                start(client, workload, run_ids)
                for run_id in run_ids[-in_flight:]:
                    client.wait(run_id)
            loop.call_soon_threadsafe(ended.set)

        thread = threading.Thread(target=caller)
        running = asyncio.create_task(orchestrator.run())
        thread.start()
        await ended.wait()
        orchestrator.stop()
        await running

    driven = asyncio.run(_measured(url, len(run_ids), work, in_flight, watch))
    driven.latencies = _from_records(url, run_ids)
    return driven


async def _measured(
    url: str,
    count: int,
    work: Callable[[Orchestrator], Awaitable[None]],
    in_flight: int,
    watch: Watch,
) -> Driven:
    async with Orchestrator(app, url, runs_at_once=in_flight) as orchestrator:
        watch()
        began, cpu = time.perf_counter(), time.process_time()
        await work(orchestrator)
        spent, seconds = time.process_time() - cpu, time.perf_counter() - began
        watch()
        return Driven(count, seconds, spent, orchestrator.commits)


def _from_records(url: str, run_ids: Sequence[str]) -> list[float]:
    """From the first to the last record of the orchestrator, of some runs."""
    spans = []
    with closing(Client(url)) as client:
        for run_id in run_ids[:: max(len(run_ids) // _SAMPLE, 1)]:
            times = [record.at for record in client.journal(run_id) if record.at]
            spans.append((times[-1] - times[1]).total_seconds() * 1000)
    return spans


def figure(who: str, workload: str, in_flight: int, driven: Driven) -> Figure:
    """The same as a figure."""
    return Figure(
        who,
        workload,
        in_flight,
        driven.count / driven.seconds,
        driven.cpu * 1e6 / driven.count,
        quantile(driven.latencies, 0.5),
        quantile(driven.latencies, 0.99),
        driven.commits / driven.count,
    )


def product(url: str, workload: str, count: int, in_flight: int) -> Figure:
    """`count` runs are waiting; an orchestrator with room for `in_flight` of them begins."""
    with closing(Client(url)) as client:
        start(client, workload, names(count))
        return figure(_WHO, workload, in_flight, drain(url, names(count), in_flight))


def written(folder: Path, workload: str, count: int, in_flight: int) -> Written:
    """What a saga writes, its start not counted.

    A reader that stands still keeps the WAL from being used anew, so that it shows all that went
    there. That costs time, so nothing else is measured meanwhile.
    """
    url, path = f"sqlite:///{folder / 'saga.db'}", folder / "saga.db-wal"
    with closing(Client(url)) as client:
        start(client, workload, names(count))
        with closing(library.connect(str(folder / "saga.db"), isolation_level=None)) as reader:
            reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            reader.execute("BEGIN")
            before = reader.execute(_RECORDS).fetchone()[0]
            drain(url, names(count), in_flight)
            wal = path.stat().st_size / count if path.exists() else None
            reader.execute("ROLLBACK")
            after = reader.execute(_RECORDS).fetchone()[0]
    return Written(workload, in_flight, (after - before) / count, wal)


def call(url: str, workload: str, run_ids: Sequence[str], watch: Watch = _unwatched) -> Driven:
    """Start a run, wait for its end, start the next: what one caller sees, in one process.

    Latency is from the call of `start` to the return of `wait`.
    """
    saga = HAPPY if workload == "happy" else COMPENSATED
    latencies: list[float] = []

    def caller() -> None:
        with closing(Client(url)) as client:
            for number, run_id in enumerate(run_ids):
                began = time.perf_counter()
                client.start(saga, order(number), run_id=run_id)
                client.wait(run_id)
                latencies.append((time.perf_counter() - began) * 1000)

    async def work(orchestrator: Orchestrator) -> None:
        running = asyncio.create_task(orchestrator.run())
        await asyncio.to_thread(caller)
        orchestrator.stop()
        await running

    driven = asyncio.run(_measured(url, len(run_ids), work, _ROOM, watch))
    driven.latencies = latencies
    return driven


def one_caller(url: str, workload: str, count: int, in_flight: int) -> Figure:
    """As `call`, as a figure."""
    driven = call(url, workload, names(count))
    return figure(f"{_WHO}, start to wait", workload, in_flight, driven)
