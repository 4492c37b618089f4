"""The one reader of time. Everything else is given a time, so that tests can move it.

`now` is wall-clock time in unix seconds, for what is stored and compared between processes: this
machine's, unless the database has a clock that all who use it share (`journal/server_clock.py`).
`monotonic` is for durations inside one process.
"""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Real time. Tests pass a subclass that they move by hand."""

    def now(self) -> float:
        """Unix time in seconds, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some start; never goes back, says nothing to other processes."""
        return time.monotonic()

    def local(self, at: float) -> float:
        """What this machine's own clock shows, right or wrong, when it is `at` by `now`."""
        return at

    def heard(self, said: float) -> float:
        """The time that a database server has said it is; tests that move time move it as well."""
        return said

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        time.sleep(seconds)
