"""DBOS: a workflow of three steps, undone by the steps of its `except`.

Its database is on the server that it is given, or a new SQLite file. Tuned as well as we know:

- The file is WAL, which DBOS does not choose by itself: 5 fsyncs a workflow instead of 20. It stays
  at `synchronous=FULL`. On a server it has a pool of 20 connections.
- SAGA_BENCH_THREADS bounds its executor threads. Fewer spend less CPU; which number is fastest is
  another one on every machine, so the default and four are measured.
- Plain functions one at a time (fewer hops between threads); coroutines, if many are in flight.
- SAGA_BENCH_CALLERS: plain functions from so many threads, and no more than that in flight. That is
  the fastest way on a server, though a step that waits would wait alone.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

from dbos import DBOS, SetWorkflowID

from benchmarks.peers.timing import Task, Timing, drive, drive_calls, task, tell

__all__ = ["main"]

_THREADS = os.environ.get("SAGA_BENCH_THREADS", "")
_CALLERS = int(os.environ.get("SAGA_BENCH_CALLERS", "0"))
_POOL = 20  # connections
_STEP, _WORKFLOW = DBOS.step(), DBOS.workflow()


class _NoCarrierError(Exception):
    """The third step is refused."""


def _reserve(order: int) -> dict[str, Any]:
    return {"hold": f"hold-{order}", "sku": "sku-1", "quantity": 2}


def _charge(order: int) -> dict[str, Any]:
    return {"charge": f"charge-{order}", "amount": "120.50"}


def _ship(order: int, fails: bool) -> dict[str, Any]:  # noqa: FBT001  as its log stores it
    if fails:
        raise _NoCarrierError(f"no carrier for {order}")
    return {"parcel": f"parcel-{order}"}


def _undo(order: int, receipt: dict[str, Any]) -> dict[str, Any]:
    return {"undone": order, "what": sorted(receipt)}


def _slow(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same as a coroutine, under a name of its own."""

    async def call(*given: Any) -> Any:
        return function(*given)

    call.__name__ = call.__qualname__ = f"{function.__name__}_slow"
    return call


_RESERVE, _CHARGE, _SHIP = _STEP(_reserve), _STEP(_charge), _STEP(_ship)
_UNDO = _STEP(_undo)
_RESERVE_SLOW, _CHARGE_SLOW = _STEP(_slow(_reserve)), _STEP(_slow(_charge))
_SHIP_SLOW, _UNDO_SLOW = _STEP(_slow(_ship)), _STEP(_slow(_undo))


def _order(order: int, fails: bool) -> str:  # noqa: FBT001
    hold, charge = _RESERVE(order), _CHARGE(order)
    try:
        _SHIP(order, fails)
    except _NoCarrierError:
        for receipt in (charge, hold):
            _UNDO(order, receipt)
        return "compensated"
    return "happy"


async def _order_slow(order: int, fails: bool) -> str:  # noqa: FBT001
    hold, charge = await _RESERVE_SLOW(order), await _CHARGE_SLOW(order)
    try:
        await _SHIP_SLOW(order, fails)
    except _NoCarrierError:
        for receipt in (charge, hold):
            await _UNDO_SLOW(order, receipt)
        return "compensated"
    return "happy"


_ORDER, _ORDER_SLOW = _WORKFLOW(_order), _WORKFLOW(_order_slow)


def _database(given: Task) -> str:
    if given.server:
        return given.server
    file = given.folder / "dbos.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=wal")  # it belongs to the file and stays
    return f"sqlite:///{file}"


def main(given: Task) -> None:
    """Run them and tell."""
    DBOS(
        config={
            "name": "order",
            "system_database_url": _database(given),
            "log_level": "ERROR",
            **({"sys_db_pool_size": _POOL} if given.server else {}),
            **({"max_executor_threads": int(_THREADS)} if _THREADS else {}),
        }
    )
    DBOS.launch()
    try:
        callers = 1 if given.in_flight == 1 else _CALLERS
        tell(_called(given, callers) if callers else asyncio.run(_together(given)))
    finally:
        DBOS.destroy()


def _called(given: Task, callers: int) -> Timing:
    def run(number: int) -> None:
        with SetWorkflowID(_name(number)):
            assert _ORDER(number, given.fails) == given.workload

    return drive_calls(run, given.count, callers)


async def _together(given: Task) -> Timing:
    async def run(number: int) -> None:
        with SetWorkflowID(_name(number)):
            handle = await DBOS.start_workflow_async(_ORDER_SLOW, number, given.fails)
        assert await handle.get_result() == given.workload

    return await drive(run, given.count, given.in_flight)


def _name(number: int) -> str:
    """Of a workflow; no other process of this database has the same."""
    return f"{os.getpid()}-{number}"


if __name__ == "__main__":
    main(task())
