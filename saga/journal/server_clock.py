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
        self._ahead: float | None = None  # of the monotonic clock

    def now(self) -> float:
        """The server's time in unix seconds; this machine's, until the server has said it."""
        if self._ahead is None:
            return self._machine.now()
        return self._machine.monotonic() + self._ahead

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

        It was said at some moment in between. What we hold is changed no more than that demands, so
        a slow answer does not spoil what a quick one has told.
        """
        said = self._machine.heard(said)
        least, most = said - answered, said - asked
        held = self._ahead
        self._ahead = least if held is None else min(max(held, least), most)
        if held is not None and abs(self._ahead - held) > _JUMP_SECONDS:
            _log.warning(
                "by the clock of the database server it is %+.1f s from one answer to the next: it "
                "was set, or this machine has slept; due times go by it",
                self._ahead - held,
            )
