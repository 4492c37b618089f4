"""Time by the clock of a database server: the same for all, however wrong their machines' are.

The server says what time it is in answers that are waited for anyway. In between, time passes as on
our monotonic clock: a wall clock that is set, or is an hour wrong, changes nothing. Where the
server's clock is set we follow it, since due times are its; and say so.
"""

from __future__ import annotations

import logging

from saga.clock import Clock

__all__ = ["ServerClock"]

_JUMP_SECONDS = 1.0
_log = logging.getLogger("saga.journal")


class ServerClock(Clock):
    """`machine` is what passes in between, and what tests move. Any thread may use it."""

    def __init__(self, machine: Clock) -> None:
        self._machine = machine
        self._bounds: tuple[float, float] | None = None  # how far ahead of our monotonic clock

    def now(self) -> float:
        """The server's time in unix seconds; this machine's, until the server has said it."""
        if self._bounds is None:
            return self._machine.now()
        return self._machine.monotonic() + self._bounds[0]

    def monotonic(self) -> float:
        """As the machine has it."""
        return self._machine.monotonic()

    def local(self, at: float) -> float:
        """As in the base. Unlike our own time this goes on while the machine sleeps."""
        return at + self._machine.now() - self.now()

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        self._machine.sleep(seconds)

    def learn(self, said: float, asked: float, answered: float) -> None:
        """The server has said that it is `said`; asked and answered by our monotonic clock.

        It was said at some moment in between, so a quick answer tells more than a slow one. Of what
        is possible we take the earliest: nothing is due too soon.
        """
        said = self._machine.heard(said)
        least, most = said - answered, said - asked
        before = self._bounds
        if before is not None:
            gap = max(least - before[1], before[0] - most)  # that no slow answer explains
            if gap <= 0:
                least, most = max(least, before[0]), min(most, before[1])
            elif gap > _JUMP_SECONDS:
                _log.warning(
                    "by the clock of the database server it is %+.1f s from one answer to the "
                    "next: it was set, or this machine has slept; due times go by it",
                    least - before[0],
                )
        self._bounds = least, most
