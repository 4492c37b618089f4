"""agent-saga: `saga_scope` around three compensable actions, with its file log.

Nothing to tune: the file log shares one fsync between all that wait for it, as it comes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agent_saga import ActionSemantics, Compensation, SagaAborted, saga_scope
from agent_saga.registry import compensator
from agent_saga.wal import FileWAL

from benchmarks.peers.timing import Task, drive, task, tell

__all__ = ["main"]

_UNDOABLE = ActionSemantics.COMPENSABLE


class _NoCarrierError(Exception):
    """The third step is refused."""


async def _reserve(order: int) -> dict[str, Any]:
    return {"hold": f"hold-{order}", "sku": "sku-1", "quantity": 2}


async def _charge(order: int) -> dict[str, Any]:
    return {"charge": f"charge-{order}", "amount": "120.50"}


async def _ship(order: int) -> dict[str, Any]:
    return {"parcel": f"parcel-{order}"}


async def _refuse(order: int) -> dict[str, Any]:
    raise _NoCarrierError(f"no carrier for {order}")


async def _undo(order: int) -> dict[str, Any]:
    return {"undone": order}


def _named(name: str) -> Any:
    """The undo under a name of its own, as its recovery would look it up."""
    return compensator(name)(_undo)


_UNDOS = {name: _named(name) for name in ("release", "refund", "recall")}


def _undo_with(name: str, order: int) -> Any:
    return lambda _: Compensation(fn=_UNDOS[name], handler=name, kwargs={"order": order})


async def main(given: Task) -> None:
    """Run them and tell."""
    log = FileWAL(given.folder / "agent-saga.wal")
    await log.start()
    ship = _refuse if given.fails else _ship

    async def run(number: int) -> None:
        of = {"order": number}
        try:
            async with saga_scope(name="order", wal=log) as saga:
                for name, act, undo in (
                    ("reserve", _reserve, "release"),
                    ("charge", _charge, "refund"),
                    ("ship", ship, "recall"),
                ):
                    await saga.execute(name, _UNDOABLE, act, of, _undo_with(undo, number))
        except SagaAborted as ended:
            clean = ended.report.clean
            assert given.fails, "no step was refused"
            assert clean, "an undo has failed"
        else:
            assert not given.fails, "a step was refused"

    timing = await drive(run, given.count, given.in_flight)
    await log.close()
    tell(timing)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main(task()))
