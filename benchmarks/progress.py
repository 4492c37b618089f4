"""Progress goes to stderr: stdout belongs to the tables."""

from __future__ import annotations

import sys
import time

__all__ = ["Counter", "say"]

_EVERY_SECONDS = 2.0


def say(text: str) -> None:
    """One line."""
    print(text, file=sys.stderr, flush=True)


class Counter:
    """Says now and then how far something is that takes minutes."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._began = self._said = time.monotonic()

    def reached(self, done: int) -> None:
        """So many are done."""
        now = time.monotonic()
        if now - self._said < _EVERY_SECONDS and done < self._total:
            return
        self._said = now
        spent = now - self._began
        left = spent / done * (self._total - done) if done else 0.0
        rest = f", {left:.0f} s left" if left >= 1 else f" in {spent:.1f} s"
        say(f"{self._what}: {done:,} of {self._total:,}{rest}")
