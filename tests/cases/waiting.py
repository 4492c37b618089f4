"""Waiting for something to become true, with a deadline: nothing sleeps a fixed time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["LONG", "until", "until_then"]

LONG = 60.0  # seconds; the machine may be busy, and who waits in vain has failed anyway
T = TypeVar("T")


def until(condition: Callable[[], T], what: str, within: float = LONG) -> T:
    """Look until `condition` gives something true, and give that."""
    end = time.monotonic() + within
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"after {within:g} s still not: {what}"
        time.sleep(0.005)


async def until_then(condition: Callable[[], T], what: str, within: float = LONG) -> T:
    """The same, while the loop goes on."""
    end = time.monotonic() + within
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"after {within:g} s still not: {what}"
        await asyncio.sleep(0.002)
