"""How a peer's program is called and what it says; nothing but the standard library is needed.

`python -m benchmarks.peers.order_on_X FOLDER WORKLOAD COUNT IN_FLIGHT` runs that many sagas after a
few to warm up, and prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["WARM_UP", "Task", "Timing", "drive", "drive_alone", "quantile", "task", "tell"]

WARM_UP = 20  # sagas; their numbers are below zero


@dataclass(frozen=True, slots=True)
class Task:
    """What to run. The folder is empty and is removed afterwards."""

    folder: Path
    workload: str  # happy, or compensated: the third step is refused
    count: int
    in_flight: int

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
    return Task(Path(folder), workload, int(count), int(in_flight))


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

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    spent, seconds = time.process_time() - cpu, time.perf_counter() - began
    return Timing(count, seconds, spent, quantile(latencies, 0.5), quantile(latencies, 0.99))


def drive_alone(run: Callable[[int], None], count: int) -> Timing:
    """One after the other, by plain calls."""
    for number in range(-WARM_UP, 0):
        run(number)
    latencies = list[float]()
    began, cpu = time.perf_counter(), time.process_time()
    for number in range(count):
        before = time.perf_counter()
        run(number)
        latencies.append((time.perf_counter() - before) * 1000)
    spent, seconds = time.process_time() - cpu, time.perf_counter() - began
    return Timing(count, seconds, spent, quantile(latencies, 0.5), quantile(latencies, 0.99))


def quantile(values: list[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def tell(timing: Timing) -> None:
    """The last line."""
    print(json.dumps(asdict(timing)), flush=True)
