"""Threads of our own: nothing that is handed to them is left lying."""

from __future__ import annotations

import threading
from queue import Empty
from typing import Any

import pytest

from saga.orchestrator import threads
from saga.orchestrator.threads import Threads


class _Late:
    """A queue into which something is put between its last look and what follows from it."""

    def __init__(self, queue: Any, put: Any) -> None:
        self._queue, self._put = queue, put

    def put(self, work: Any) -> None:
        self._queue.put(work)

    def get(self, timeout: float) -> Any:
        try:
            return self._queue.get(timeout=timeout)
        except Empty:
            put, self._put = self._put, lambda: None
            put()
            raise


def test_work_that_comes_as_the_last_idle_thread_leaves_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.01)
    own, first, second = Threads(2), threading.Event(), threading.Event()
    monkeypatch.setattr(own, "_queue", _Late(own._queue, lambda: own.submit(second.set)))
    own.submit(first.set)
    assert first.wait(5)
    assert second.wait(5)
