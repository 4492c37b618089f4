"""An orchestrator that runs in this process, beside what the test does to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from saga import App, Orchestrator
from tests.cases.waiting import LONG, until_then
from tests.cases.world import World

__all__ = ["looks", "running"]


@asynccontextmanager
async def running(
    world: World,
    app: App | None = None,
    kind: type[Orchestrator] = Orchestrator,
    **options: Any,
) -> AsyncIterator[Orchestrator]:
    """`run()` in a task of its own; stopped at the end of the block."""
    settings: dict[str, Any] = {"lease": 5.0, "poll": 0.05, "grace": 5.0, **options}
    orchestrator = kind(app or world.app, world.url, **settings)
    async with orchestrator:
        task = asyncio.create_task(orchestrator.run())
        try:
            yield orchestrator
        finally:
            orchestrator.stop()
            await asyncio.wait_for(task, LONG)


async def looks(orchestrator: Orchestrator, count: int = 5) -> None:
    """Wait until it has looked at the database so many times more."""
    seen = set[float]()

    def looked_often() -> bool:
        seen.add(orchestrator._now()._looked_at)
        return len(seen) > count

    await until_then(looked_often, f"it has looked {count} times")
