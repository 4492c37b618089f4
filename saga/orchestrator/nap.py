"""A nap: a sleep that whoever has news may end."""

from __future__ import annotations

import asyncio

__all__ = ["Nap"]


class Nap:
    """One at a time, on the event loop."""

    def __init__(self) -> None:
        self._over: asyncio.Future[None] | None = None

    async def take(self, seconds: float, bell: int | None = None) -> None:
        """Sleep for so long, or until it is ended, or the descriptor `bell` can be read."""
        loop = asyncio.get_running_loop()
        self._over = loop.create_future()
        timer = loop.call_later(seconds, self.end)
        if bell is not None:
            loop.add_reader(bell, self.end)
        try:
            await self._over
        finally:
            timer.cancel()
            if bell is not None:
                loop.remove_reader(bell)

    def end(self) -> None:
        """Wake up now; nothing happens if nobody sleeps."""
        if self._over is not None and not self._over.done():
            self._over.set_result(None)
