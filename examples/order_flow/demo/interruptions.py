"""Ctrl-C, SIGTERM and SIGHUP, heard at moments when nothing can be forgotten.

A signal is noted when it comes and raised by `check`, which whoever waits or begins something asks.
So no process is ever born without being remembered, and cleaning up is not interrupted in its turn.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupted", "Interruptions"]

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is no signal of Windows


class Interrupted(Exception):
    """A signal has asked for the end."""


class Interruptions:
    """What was asked of this process by signals, for the length of `listening`."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note the first signal instead of dying of it."""
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        # Who ignores a hang-up has asked for that (`nohup`); an ignored Ctrl-C is a shell's habit.
        numbers = [
            number
            for number in numbers
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
        ]
        before = {number: signal.signal(number, self._receive) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.received is not None:
            raise Interrupted

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.received = self.received or signal.Signals(number)
