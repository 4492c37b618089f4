"""Errands: work for the writer's thread whose answer is wanted on the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from saga.journal.database import Database
from saga.journal.writer import Writer

__all__ = ["Errands"]

_log = logging.getLogger("saga")
T = TypeVar("T")


class Errands:
    """From the loop to the writer's thread and back."""

    def __init__(self, database: Database) -> None:
        self.writer: Writer
        self._database = database
        self._loop = asyncio.get_running_loop()

    def call_soon(self, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the loop, from any thread."""
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            _log.debug("the loop is closed; nobody is told")

    async def write(self, work: Callable[[Any], T]) -> T:
        """Run `work` in a write transaction on the writer's thread. Raises `SagaError`."""

        def transaction(connection: Any) -> T:
            with self._database.turn(connection):
                return work(connection)

        return await self.run(transaction)

    async def run(self, work: Callable[[Any], T]) -> T:
        """Run `work` on the writer's thread, outside any transaction. Raises `SagaError`."""
        answer: asyncio.Future[T] = self._loop.create_future()

        def job(connected: Callable[[], Any]) -> None:
            try:
                value = work(connected())
            except Exception as error:  # noqa: BLE001  it is the caller's to handle
                self.call_soon(_fail, answer, self._database.explained(error))
            else:
                self.call_soon(_fulfil, answer, value)

        self.writer.run(job)
        return await answer


def _fail(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)


def _fulfil(answer: asyncio.Future[Any], value: object) -> None:
    if not answer.done():
        answer.set_result(value)
