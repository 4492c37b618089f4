"""Threads for sync functions: daemons with a limit, apart from asyncio's own pool.

A function that never returns costs its thread and nothing else: the loop and the beat go on, async
effects never wait, and the process can end.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["Ended", "Threads", "Turn"]

_IDLE_SECONDS = 30.0


class Threads:
    """At most `limit` threads, made when needed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._count = 0
        self._waiting = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Run `work` on a thread, in a copy of the present context. It must not raise."""
        context = contextvars.copy_context()
        with self._lock:
            self._waiting += 1
            if self._waiting > self._idle and self._count < self.limit:
                self._count += 1
                threading.Thread(target=self._run, name="saga-call", daemon=True).start()
        self._queue.put(lambda: context.run(work))

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            try:
                work: Any = self._queue.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    self._idle -= 1
                    if self._waiting > self._idle:
                        continue  # it came at the last moment, and counts on us
                    self._count -= 1
                return
            with self._lock:
                self._idle -= 1
                self._waiting -= 1
            work()
            work = None  # nothing of a call outlives it here


@dataclass(slots=True)
class Ended:
    """How a function ended: with a value, an error, or without having begun."""

    value: Any = None
    error: BaseException | None = None
    begun: bool = True


class Turn:
    """Whether a thread has begun a call: after it was given up, it must not begin any more."""

    def __init__(self, function: Callable[[Any], Any], call: Any) -> None:
        self._function, self._call = function, call
        self._lock = threading.Lock()
        self._begun = self._given_up = False

    def abandon(self) -> bool:
        """Give up waiting for it to begin; whether it has begun."""
        with self._lock:
            self._given_up = True
            return self._begun

    def take(self) -> Ended:
        """Run it, on the thread."""
        with self._lock:
            if self._given_up:
                return Ended(begun=False)
            self._begun = True
        try:
            return Ended(value=self._function(self._call))
        except BaseException as error:  # noqa: BLE001  whatever user code raises becomes a result
            return Ended(error=error)
