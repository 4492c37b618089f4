"""A clock that a test moves: real time plus what has been added to it."""

from __future__ import annotations

from saga.clock import Clock

__all__ = ["MovedClock"]


class MovedClock(Clock):
    """`ahead` is added to all readings."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    def now(self) -> float:
        return super().now() + self.ahead

    def heard(self, said: float) -> float:
        return said + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead
