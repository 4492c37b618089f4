"""What may come over a storm beside the ends of its processes."""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod

__all__ = ["Trouble"]


class Trouble(ABC):
    """What strikes again and again, beside the processes: so often, in about so many seconds."""

    name = ""

    def __init__(self, wanted: int, seconds: float, chance: random.Random) -> None:
        self.wanted, self.done = wanted, 0
        self.chance = chance
        self._pause = seconds / max(wanted, 1)

    def rage(self, over: threading.Event) -> None:
        """Strike until it is enough."""
        while self.done < self.wanted:
            if over.wait(self.chance.uniform(0.5, 1.5) * self._pause):
                return
            self.done += self.strike()

    @abstractmethod
    def strike(self) -> int:
        """Once; how often it has hit."""
