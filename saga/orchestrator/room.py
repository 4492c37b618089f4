"""How many runs may be claimed at a look."""

from __future__ import annotations

from collections.abc import Sized

from saga.journal.sharing import Circle
from saga.orchestrator.brake import Brake

__all__ = ["Room"]

_FIRST_LIMIT = 10  # runs of the first look: nobody knows how long they are
_CLAIM_LIMIT = 100  # of those that follow
_HERITAGE_LIMIT = 400  # the same while the runs of a dead process are taken up: they have waited
_LOOK_SECONDS = 0.5  # for one look: it holds the turn to write
_LOOK_SHARE = 0.1  # and so much of the lease: the beat waits for it
_HELD_UP = 9  # runs beyond each place that only a pause or a limit keeps from going on
_SPARE = 10  # one place in so many is added for runs that settle something


class Room:
    """Room for `most` runs in memory; `runs` are those that are there.

    What only waits for the end of a pause, or for room to call, takes no place of others, up to
    nine times as many: else a paused provider, or a slow one, would keep all others waiting.
    `circle` is how those that wait share it. A look takes no more runs than fit its time, by how
    long those before them took to be read and verified.
    """

    def __init__(self, most: int, runs: Sized, brake: Brake, lease: float) -> None:
        # Two halves take turns: while one is being written, the other is being decided.
        self.half = min(-(-most // 2), _CLAIM_LIMIT)
        self.circle = Circle()
        self.inheriting = False  # the last claim took what a dead process had left
        self._seconds = min(_LOOK_SECONDS, lease * _LOOK_SHARE)
        self._fit = _FIRST_LIMIT
        self._most = most
        self._runs = runs
        self._brake = brake

    @property
    def left(self) -> int:
        """For any run."""
        most = _HERITAGE_LIMIT if self.inheriting else self.half
        return max(min(self._free, most, self._fit), 0)

    @property
    def _free(self) -> int:
        return 0 if self._brake.stopping else self._most - self._taken

    @property
    def _taken(self) -> int:
        return len(self._runs) - min(self._brake.held_up, _HELD_UP * self._most)

    def took(self, runs: int, seconds: float) -> None:
        """A look took so many runs, and so long."""
        if runs:
            self._fit = max(int(runs * self._seconds / max(seconds, 1e-6)), 1)

    @property
    def worthwhile(self) -> bool:
        """Whether there is room for many, and more than the last claim took may wait for it."""
        return self.circle.crowded and self._free >= self.half

    @property
    def spare(self) -> int:
        """Beyond that, for runs that wind down or have something unknown.

        Only while new work that is held up may be what fills the memory.
        """
        if self._brake.stopping or not self._brake.held_up:
            return 0
        most = self._most + -(-self._most // _SPARE)
        return max(min(most - self._taken, self._fit), 0)
