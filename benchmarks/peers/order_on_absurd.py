"""Absurd: a task of three steps, undone by the steps of its `except`.

Its schema comes from `absurdctl`, whose own command would need `psql`. Tuned as well as we know:

- Ten workers with a connection each: what runs on one connection takes turns, so that one worker
  with a hundred tasks at once makes about half as many.
- They poll every 20 ms instead of 250, or as often as SAGA_BENCH_POLL says in seconds. That is what
  a single task waits for; many in flight are slower if it is less.
- The end of a single task is looked for every millisecond, where the product's own wait begins with
  50 and doubles.

As with `saga`, the tasks of many in flight have been spawned before, and latency is from claim to
end by the server's books.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from absurd_sdk import AsyncAbsurd
from absurdctl import BUNDLED_SCHEMA_SQL
from psycopg import AsyncConnection

from benchmarks.peers.timing import WARM_UP, Task, Timing, drive, mark, quantile, task, tell

__all__ = ["main"]

_QUEUE = "orders"
_CONNECTIONS = 10
_POLL_SECONDS = float(os.environ.get("SAGA_BENCH_POLL", "0.02"))
_LOOK_SECONDS = 0.001
_UNDONE = "SELECT count(*) FROM absurd.t_orders WHERE state <> 'completed'"
_WRONG = "SELECT count(*) FROM absurd.t_orders WHERE completed_payload IS DISTINCT FROM %s::jsonb"
_LATENCIES = """SELECT 1000 * extract(epoch FROM completed_at - started_at)::float8
    FROM absurd.r_orders JOIN absurd.t_orders USING (task_id)
    WHERE (params->>'order')::int >= 0"""


class _NoCarrierError(Exception):
    """The third step is refused."""


async def _reserve(order: int) -> dict[str, Any]:
    return {"hold": f"hold-{order}", "sku": "sku-1", "quantity": 2}


async def _charge(order: int) -> dict[str, Any]:
    return {"charge": f"charge-{order}", "amount": "120.50"}


async def _ship(order: int, *, fails: bool) -> dict[str, Any]:
    if fails:
        raise _NoCarrierError(f"no carrier for {order}")
    return {"parcel": f"parcel-{order}"}


async def _undo(order: int, receipt: dict[str, Any]) -> dict[str, Any]:
    return {"undone": order, "what": sorted(receipt)}


async def _order(params: Any, context: Any) -> str:
    order, fails = params["order"], params["fails"]
    hold = await context.step("reserve", lambda: _reserve(order))
    charge = await context.step("charge", lambda: _charge(order))
    try:
        await context.step("ship", lambda: _ship(order, fails=fails))
    except _NoCarrierError:
        await context.step("refund", lambda: _undo(order, charge))
        await context.step("release", lambda: _undo(order, hold))
        return "compensated"
    return "happy"


async def main(given: Task) -> None:
    """Run them and tell."""
    async with await _connect(given) as connection:
        await connection.execute(BUNDLED_SCHEMA_SQL)
        client = AsyncAbsurd(connection, _QUEUE)
        await client.create_queue()
        if given.in_flight == 1:
            timing = await _alone(given, client)
        else:
            timing = await _together(given, connection, client)
        wrong = await connection.execute(_WRONG, [f'"{given.workload}"'])
        assert await wrong.fetchone() == (0,), "a task has another result"
    tell(timing)


async def _connect(given: Task) -> AsyncConnection[Any]:
    return await AsyncConnection.connect(given.server, autocommit=True)


async def _spawn(client: Any, number: int, given: Task) -> str:
    params = {"order": number, "fails": given.fails}
    spawned = await client.spawn("order", params, queue=_QUEUE)
    return str(spawned["task_id"])


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while not await is_so():  # noqa: ASYNC110  only the database knows
        await asyncio.sleep(_LOOK_SECONDS)


async def _alone(given: Task, client: Any) -> Timing:
    async def run(number: int) -> None:
        spawned = await _spawn(client, number, given)

        async def completed() -> bool:
            return bool((await client.fetch_task_result(spawned)).state == "completed")

        await _until(completed)

    async with _workers(given) as workers, workers.working():
        return await drive(run, given.count, 1)


async def _together(given: Task, connection: AsyncConnection[Any], client: Any) -> Timing:
    async def spawn(numbers: range) -> None:
        async with connection.transaction():  # it is not measured, so it may be quick
            for number in numbers:
                await _spawn(client, number, given)

    async def all_completed() -> bool:
        return await (await connection.execute(_UNDONE)).fetchone() == (0,)

    async def drain(workers: _Workers, tasks: int) -> None:
        returned = workers.expect(tasks)
        async with workers.working():
            await returned.wait()  # the question would scan a long table each time
            await _until(all_completed)

    async with _workers(given) as workers:
        await spawn(range(-WARM_UP, 0))
        await drain(workers, WARM_UP)
        await spawn(range(given.count))
        mark()
        began, cpu = time.perf_counter(), time.process_time()
        await drain(workers, given.count)
        spent, seconds = time.process_time() - cpu, time.perf_counter() - began
        mark()
    spans = [span for (span,) in await (await connection.execute(_LATENCIES)).fetchall()]
    return Timing(given.count, seconds, spent, quantile(spans, 0.5), quantile(spans, 0.99))


class _Workers:
    """One worker a connection, which share what is in flight between them."""

    def __init__(self, connections: list[AsyncConnection[Any]], in_flight: int) -> None:
        self._left, self._returned = 0, asyncio.Event()
        self._at_once = -(-in_flight // len(connections))
        self._clients = [AsyncAbsurd(connection, _QUEUE) for connection in connections]
        for client in self._clients:
            client.register_task("order")(self._run)

    def expect(self, tasks: int) -> asyncio.Event:
        """Set when so many more have returned; the last ones may not be written yet."""
        self._left, self._returned = tasks, asyncio.Event()
        return self._returned

    async def _run(self, params: Any, context: Any) -> str:
        result = await _order(params, context)
        self._left -= 1
        if not self._left:
            self._returned.set()
        return result

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """They claim and run, until the block ends."""
        async with asyncio.TaskGroup() as group:
            for number, client in enumerate(self._clients):
                worker = client.start_worker(
                    f"worker-{number}", concurrency=self._at_once, poll_interval=_POLL_SECONDS
                )
                group.create_task(worker)
            yield
            for client in self._clients:
                client.stop_worker()


@asynccontextmanager
async def _workers(given: Task) -> AsyncIterator[_Workers]:
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(await _connect(given))
            for _ in range(min(_CONNECTIONS, given.in_flight))
        ]
        yield _Workers(connections, given.in_flight)


if __name__ == "__main__":
    asyncio.run(main(task()))
