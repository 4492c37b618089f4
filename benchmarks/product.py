"""saga itself: runs that have been started are claimed and run to their end by one orchestrator."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from benchmarks.figures import Figure, quantile
from benchmarks.workload import COMPENSATED, HAPPY, app, order
from saga import Client, Orchestrator

__all__ = ["one_caller", "product", "product_at"]

_WHO = "saga"


def product(folder: Path, workload: str, count: int, in_flight: int) -> Figure:
    """As `product_at`, in a file of its own."""
    return product_at(f"sqlite:///{folder / 'saga.db'}", workload, count, in_flight)


def product_at(url: str, workload: str, count: int, in_flight: int, who: str = _WHO) -> Figure:
    """`count` runs are waiting; an orchestrator with room for `in_flight` of them begins.

    Claiming, reading and verifying them is part of what is measured; the clients' starts are not.
    Latency is from a run's claim to its end, by the times of its records.
    """
    client = Client(url)
    saga = HAPPY if workload == "happy" else COMPENSATED
    for number in range(count):
        client.start(saga, order(number), run_id=f"r-{number:08d}")

    async def main() -> tuple[float, float, float]:
        async with Orchestrator(app, url, runs_at_once=in_flight) as orchestrator:
            began, cpu = time.perf_counter(), time.process_time()
            await orchestrator.run_until_idle()
            spent = time.process_time() - cpu
            return time.perf_counter() - began, spent, orchestrator.commits / count

    seconds, cpu, commits = asyncio.run(main())
    latencies = _latencies(client, count)
    client.close()
    return Figure(
        who,
        workload,
        in_flight,
        count / seconds,
        cpu * 1e6 / count,
        quantile(latencies, 0.5),
        quantile(latencies, 0.99),
        commits,
    )


def _latencies(client: Client, count: int) -> list[float]:
    """Milliseconds from the first to the last record of the orchestrator, of up to 500 runs."""
    wanted = range(0, count, max(count // 500, 1))
    spans = []
    for number in wanted:
        times = [record.at for record in client.journal(f"r-{number:08d}") if record.at]
        spans.append((times[-1] - times[1]).total_seconds() * 1000)
    return spans


def one_caller(folder: Path, workload: str, count: int, in_flight: int) -> Figure:
    """Start a run, wait for its end, start the next: what one caller sees, in one process.

    Latency is from the call of `start` to the return of `wait`.
    """
    url = f"sqlite:///{folder / 'saga.db'}"
    client = Client(url)
    saga = HAPPY if workload == "happy" else COMPENSATED
    latencies: list[float] = []

    def caller() -> None:
        for number in range(count):
            began = time.perf_counter()
            client.start(saga, order(number), run_id=f"r-{number:08d}")
            client.wait(f"r-{number:08d}")
            latencies.append((time.perf_counter() - began) * 1000)

    async def main() -> tuple[float, float, float]:
        async with Orchestrator(app, url) as orchestrator:
            running = asyncio.create_task(orchestrator.run())
            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.to_thread(caller)
            spent = time.process_time() - cpu
            seconds, commits = time.perf_counter() - began, orchestrator.commits
            orchestrator.stop()
            await running
            return seconds, spent, commits / count

    seconds, cpu, commits = asyncio.run(main())
    client.close()
    return Figure(
        f"{_WHO}, start to wait",
        workload,
        in_flight,
        count / seconds,
        cpu * 1e6 / count,
        quantile(latencies, 0.5),
        quantile(latencies, 0.99),
        commits,
    )
