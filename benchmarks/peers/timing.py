"""How a peer's program is called and what it says; nothing but the standard library is needed.

`python -m benchmarks.peers.order_on_X FOLDER WORKLOAD COUNT IN_FLIGHT` runs that many sagas after a
few to warm up, and prints one line of JSON. SAGA_BENCH_DATABASE is the URL of an empty database of
a server; without it, the program makes a file in the folder. Where measuring begins and where it
ends the program says so (`mark`) and waits for a line, so that the server can be looked at.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = [
    "DATABASE",
    "MARK",
    "WARM_UP",
    "Task",
    "Timing",
    "drive",
    "drive_calls",
    "mark",
    "quantile",
    "task",
    "tell",
]

DATABASE = "SAGA_BENCH_DATABASE"
MARK = "mark"
WARM_UP = 20  # sagas; their numbers are below zero


@dataclass(frozen=True, slots=True)
class Task:
    """What to run. The folder is empty and is removed afterwards."""

    folder: Path
    workload: str  # happy, or compensated: the third step is refused
    count: int
    in_flight: int
    server: str  # URL of an empty database, if it is to be on a server

    @property
    def fails(self) -> bool:
        """Whether the third step is refused."""
        return self.workload == "compensated"


@dataclass(frozen=True, slots=True)
class Timing:
    """What it took: wall clock and CPU of the whole process in seconds, latencies in ms."""

    count: int
    seconds: float
    cpu: float
    p50: float
    p99: float


def task() -> Task:
    """The command line."""
    folder, workload, count, in_flight = sys.argv[1:]
    server = os.environ.get(DATABASE, "")
    return Task(Path(folder), workload, int(count), int(in_flight), server)


def mark() -> None:
    """Here measuring begins, or ends: wait until whoever looks has looked."""
    print(MARK, flush=True)
    sys.stdin.readline()


async def drive(run: Callable[[int], Awaitable[None]], count: int, in_flight: int) -> Timing:
    """Run sagas 0 to `count` - 1, so many at a time; each as soon as another has ended."""
    for number in range(-WARM_UP, 0):
        await run(number)
    numbers, latencies = iter(range(count)), list[float]()

    async def worker() -> None:
        for number in numbers:
            began = time.perf_counter()
            await run(number)
            latencies.append((time.perf_counter() - began) * 1000)

    mark()
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    spent, seconds = time.process_time() - cpu, time.perf_counter() - began
    mark()
    return Timing(count, seconds, spent, quantile(latencies, 0.5), quantile(latencies, 0.99))


def drive_calls(run: Callable[[int], None], count: int, callers: int) -> Timing:
    """By plain calls, from so many threads; each as soon as it has returned."""
    for number in range(-WARM_UP, 0):
        run(number)
    numbers, latencies = iter(range(count)), list[float]()

    def caller(_: int) -> None:
        for number in numbers:
            before = time.perf_counter()
            run(number)
            latencies.append((time.perf_counter() - before) * 1000)

    mark()
    with ThreadPoolExecutor(callers) as threads:
        began, cpu = time.perf_counter(), time.process_time()
        list(threads.map(caller, range(callers)))
        spent, seconds = time.process_time() - cpu, time.perf_counter() - began
    mark()
    return Timing(count, seconds, spent, quantile(latencies, 0.5), quantile(latencies, 0.99))


def quantile(values: list[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def tell(timing: Timing) -> None:
    """The last line."""
    print(json.dumps(asdict(timing)), flush=True)
