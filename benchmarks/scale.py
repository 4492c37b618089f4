"""`python -m benchmarks.scale`: how many sagas a second a server carries, by simulation.

A machine with two cores cannot show what a large server does. This is a simulation of the queues
that a transition goes through, with the costs that the section `postgres` measures: the loop of its
process (one core, whatever else there is), a connection of the server (one of its cores), and the
flush of the log (shared by all that wait for it). docs/scale.md quotes what it prints.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from benchmarks.figures import table

__all__ = ["Costs", "main", "simulated"]

_TRANSITIONS = 4  # of a three-step saga, each a record
_SECONDS = 2.0  # of simulated time
_PROCESSES = (1, 2, 4, 8, 16, 32)
_CORES = (2, 8, 32)


@dataclass(frozen=True, slots=True)
class Costs:
    """Microseconds a saga in the loop and on the server; of a flush; how long a step takes."""

    loop: float = 450.0
    server: float = 200.0
    flush: float = 250.0
    step: float = 0.0
    in_flight: int = 100  # sagas in each process


@dataclass(slots=True)
class _World:
    """Time, what happens next, and the queues that all processes share."""

    costs: Costs
    cores: int
    now: float = 0.0
    ended: int = 0  # transitions
    flushing: bool = False
    waiting: list[Callable[[], None]] = field(default_factory=list)  # for a core
    unflushed: list[Callable[[], None]] = field(default_factory=list)
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _number: count[int] = field(default_factory=count)

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._number), then))

    def run(self, until: float) -> None:
        while self._events and self._events[0][0] < until:
            self.now, _, then = heapq.heappop(self._events)
            then()

    def execute(self, seconds: float, then: Callable[[], None]) -> None:
        """On one core, as soon as one is free; then in the next flush."""

        def done() -> None:
            self.cores += 1
            if self.waiting:
                self.waiting.pop(0)()
            self.unflushed.append(then)
            self._flush()

        def begin() -> None:
            self.cores -= 1
            self.after(seconds, done)

        if self.cores:
            begin()
        else:
            self.waiting.append(begin)

    def _flush(self) -> None:
        if self.flushing or not self.unflushed:
            return
        self.flushing, batch = True, self.unflushed
        self.unflushed = []

        def flushed() -> None:
            self.flushing = False
            for then in batch:
                then()
            self._flush()

        self.after(self.costs.flush * 1e-6, flushed)


class _Process:
    """One loop and one connection; while one half is being written the other is decided."""

    def __init__(self, world: _World) -> None:
        self._world = world
        self._ready = world.costs.in_flight
        self._decided = 0
        self._deciding = self._writing = False
        self._go()

    def _go(self) -> None:
        world, costs = self._world, self._world.costs
        if self._ready and not self._deciding:
            self._deciding = True
            batch = min(self._ready, max(costs.in_flight // 2, 1))
            self._ready -= batch
            world.after(batch * costs.loop * 1e-6 / _TRANSITIONS, lambda: self._was_decided(batch))
        if self._decided and not self._writing:
            self._writing, batch = True, self._decided
            self._decided = 0
            spent = batch * costs.server * 1e-6 / _TRANSITIONS
            world.execute(spent, lambda: self._was_written(batch))

    def _was_decided(self, batch: int) -> None:
        self._deciding = False
        self._decided += batch
        self._go()

    def _was_written(self, batch: int) -> None:
        self._writing = False
        self._world.ended += batch
        self._world.after(self._world.costs.step * 1e-6, lambda: self._returned(batch))
        self._go()

    def _returned(self, batch: int) -> None:
        self._ready += batch
        self._go()


def simulated(processes: int, cores: int, costs: Costs) -> float:
    """Sagas a second of so many processes, each with a core of its own, and a server with cores."""
    world = _World(costs, cores)
    for _ in range(processes):
        _Process(world)
    world.run(_SECONDS / 4)  # until the queues have settled
    before, world.ended = world.now, 0
    world.run(_SECONDS)
    return world.ended / _TRANSITIONS / (_SECONDS - before)


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    for name, what in (("loop", "us a saga in its process"), ("server", "us a saga there")):
        parser.add_argument(f"--{name}", type=float, default=getattr(Costs(), name), help=what)
    parser.add_argument("--flush", type=float, default=Costs().flush, help="us of a flush")
    given = parser.parse_args(words)
    costs = Costs(given.loop, given.server, given.flush)
    rows = [
        (
            f"processes: {processes}",
            *(f"{simulated(processes, cores, costs):,.0f}" for cores in _CORES),
        )
        for processes in _PROCESSES
    ]
    print(table([("sagas/s, simulated", *(f"{cores} cores" for cores in _CORES)), *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
