"""Hand-written floors: the same durable writes with the same driver, and nothing else.

Per transition one record of the size of ours, the run's head, the action that begins and the one
that ends. No retries, leases, validation, seals or recovery: what the disk and Python allow. One
floor commits per transition; the other lets the transitions of many sagas share a commit.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from benchmarks.figures import Figure, quantile
from benchmarks.workload import TRANSITIONS, order

__all__ = ["Rows", "Store", "group_floor", "names", "single_floor"]

Rows: TypeAlias = tuple[tuple[Any, ...], ...]
Write: TypeAlias = Callable[[Rows], Awaitable[None]]

_DIGEST = "0" * 500  # digests, keys and names: a record of ours has about 900 bytes


class Store(Protocol):
    """What a floor writes to: a database with one row of `runs` for every saga."""

    def execute(self, batch: Sequence[Rows]) -> None:
        """Write what these transitions write, in one durable transaction."""
        ...


def names(count: int) -> list[str]:
    """Of so many sagas."""
    return [_name(number) for number in range(count)]


def _name(number: int) -> str:
    return f"s-{number:08d}"


def _transitions(number: int, count: int) -> Iterator[Rows]:
    """What each transition of a saga writes: its head, record, the action that ends and begins."""
    saga, given = _name(number), order(number).model_dump(mode="json")
    for seq in range(2, count + 2):
        at, last = time.time(), seq == count + 1
        body = json.dumps({"seq": seq, "at": at, "digest": _DIGEST, "args": given})
        began = None if last else (f"{saga}/{seq}", saga, "sending", json.dumps(given), None)
        ended = None if seq == 2 else ("landed", json.dumps({"id": saga}), f"{saga}/{seq - 1}")
        phase = "ended" if last else "running"
        yield (phase, seq, at + 30, saga, seq - 1), (saga, seq, at, body), ended or (), began or ()


async def _saga(number: int, transitions: int, write: Write) -> None:
    for rows in _transitions(number, transitions):
        await asyncio.sleep(0)  # the step
        await write(rows)


async def _drive(
    workload: str, count: int, in_flight: int, write: Write
) -> tuple[float, float, list[float]]:
    numbers, latencies = iter(range(count)), list[float]()

    async def worker() -> None:
        for number in numbers:
            began = time.perf_counter()
            await _saga(number, TRANSITIONS[workload], write)
            latencies.append((time.perf_counter() - began) * 1000)

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return time.perf_counter() - began, time.process_time() - cpu, latencies


def _figure(
    who: str, workload: str, count: int, in_flight: int, measured: Any, commits: int
) -> Figure:
    seconds, cpu, latencies = measured
    return Figure(
        who,
        workload,
        in_flight,
        count / seconds,
        cpu * 1e6 / count,
        quantile(latencies, 0.5),
        quantile(latencies, 0.99),
        commits / count,
    )


def single_floor(store: Store, workload: str, count: int, in_flight: int) -> Figure:
    """One commit per transition."""

    async def write(rows: Rows) -> None:
        store.execute([rows])

    measured = asyncio.run(_drive(workload, count, in_flight, write))
    commits = count * TRANSITIONS[workload]
    return _figure("floor, one commit each", workload, count, in_flight, measured, commits)


def group_floor(store: Store, workload: str, count: int, in_flight: int) -> Figure:
    """One commit for whatever is ready when the last one returns."""
    pending: list[tuple[Rows, asyncio.Future[None]]] = []
    there, lock, commits = threading.Event(), threading.Lock(), [0]

    async def main() -> Any:
        loop = asyncio.get_running_loop()

        def settle(batch: list[tuple[Rows, asyncio.Future[None]]]) -> None:
            for _, done in batch:
                done.set_result(None)

        def writer() -> None:
            while True:
                there.wait()
                there.clear()
                with lock:
                    batch, pending[:] = pending[:], []
                if not batch:
                    return
                store.execute([rows for rows, _ in batch])
                commits[0] += 1
                loop.call_soon_threadsafe(settle, batch)

        async def write(rows: Rows) -> None:
            done = loop.create_future()
            with lock:
                pending.append((rows, done))
            there.set()
            await done

        thread = threading.Thread(target=writer)
        thread.start()
        measured = await _drive(workload, count, in_flight, write)
        there.set()
        thread.join()
        return measured

    measured = asyncio.run(main())
    return _figure("floor, group commit", workload, count, in_flight, measured, commits[0])
