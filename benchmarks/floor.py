"""Hand-written floors: the same durable writes with the same SQLite library, and nothing else.

No retries, leases, validation, seals or recovery: what the disk and Python allow. One commits per
transition; the other lets the transitions of many sagas share a commit, as saga does.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.figures import Figure, quantile
from benchmarks.workload import TRANSITIONS, order
from saga.journal.sqlite import library, safe_wal

__all__ = ["group_floor", "single_floor"]

Write: TypeAlias = Callable[[str, int, str], Awaitable[None]]

_SQL = "INSERT INTO journal VALUES (?, ?, ?, ?)"


def _connect(path: Path) -> Any:
    connection = library.connect(str(path), isolation_level=None, check_same_thread=False)
    wal = safe_wal(library.sqlite_version_info)
    connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'TRUNCATE'}")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(
        "CREATE TABLE journal (saga TEXT, seq INTEGER, body TEXT, at REAL, PRIMARY KEY (saga, seq))"
        " WITHOUT ROWID"
    )
    return connection


async def _saga(number: int, transitions: int, write: Write) -> None:
    body = json.dumps(order(number).model_dump(mode="json"))
    for seq in range(1, transitions + 1):
        await asyncio.sleep(0)  # the step
        await write(f"s-{number:08d}", seq, body)


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


def single_floor(folder: Path, workload: str, count: int, in_flight: int) -> Figure:
    """One commit per transition."""
    connection, who = _connect(folder / "single.db"), "floor, one commit each"

    async def write(saga: str, seq: int, body: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SQL, (saga, seq, body, time.time()))
        connection.execute("COMMIT")

    measured = asyncio.run(_drive(workload, count, in_flight, write))
    connection.close()
    return _figure(who, workload, count, in_flight, measured, count * TRANSITIONS[workload])


def group_floor(folder: Path, workload: str, count: int, in_flight: int) -> Figure:
    """One commit for whatever is ready when the last one returns."""
    connection, who = _connect(folder / "group.db"), "floor, group commit"
    pending: list[tuple[str, int, str, asyncio.Future[None]]] = []
    there, lock, commits = threading.Event(), threading.Lock(), [0]

    async def main() -> Any:
        loop = asyncio.get_running_loop()

        def settle(batch: list[tuple[str, int, str, asyncio.Future[None]]]) -> None:
            for *_, done in batch:
                done.set_result(None)

        def writer() -> None:
            while True:
                there.wait()
                there.clear()
                with lock:
                    batch, pending[:] = pending[:], []
                if not batch:
                    return
                connection.execute("BEGIN IMMEDIATE")
                rows = [(saga, seq, body, time.time()) for saga, seq, body, _ in batch]
                connection.executemany(_SQL, rows)
                connection.execute("COMMIT")
                commits[0] += 1
                loop.call_soon_threadsafe(settle, batch)

        async def write(saga: str, seq: int, body: str) -> None:
            done = loop.create_future()
            with lock:
                pending.append((saga, seq, body, done))
            there.set()
            await done

        thread = threading.Thread(target=writer)
        thread.start()
        measured = await _drive(workload, count, in_flight, write)
        there.set()
        thread.join()
        return measured

    measured = asyncio.run(main())
    connection.close()
    return _figure(who, workload, count, in_flight, measured, commits[0])
