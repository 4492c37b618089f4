"""Machines whose clock is wrong, and a server whose clock is set."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Mapping
from typing import Any

from saga import Orchestrator
from saga.clock import Clock
from tests.cases import scripted

__all__ = ["Reset", "Skewed", "skewed"]


class Skewed(Clock):
    """A wall clock that is wrong by so many seconds; its seconds are as long as ours."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def now(self) -> float:
        return super().now() + self.seconds


class Reset(Clock):
    """The clock of the database server is wrong by `seconds`; ours is right."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def heard(self, said: float) -> float:
        return said + self.seconds


def skewed(
    url: str, folder: str, seconds: float, config: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """An orchestrator whose wall clock is wrong, for a process of its own."""

    async def main() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        asyncio.get_running_loop().add_reader(parent.sentinel, os._exit, 3)
        app = scripted.app(folder, **config)
        clock = Skewed(seconds)
        await Orchestrator(app, url, poll=0.05, clock=clock, **options).run()

    asyncio.run(main())
