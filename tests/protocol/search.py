"""Breadth first through every state that a configuration can reach.

Breadth first, so that the history shown for a violation is a shortest one. A state is *at rest*
when neither the system nor time will change it any more; the laws about rest are checked there, and
every state must be able to come to such a rest by moves of its own (law 4: nothing goes round for
ever).
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.protocol import laws
from tests.protocol.machine import Machine
from tests.protocol.moves import Move
from tests.protocol.outside import client_moves, message_moves, tick
from tests.protocol.person import person_moves
from tests.protocol.processes import COUNT, process_moves
from tests.protocol.setting import Setting
from tests.protocol.states import Process, Run, State
from tests.protocol.world import World

__all__ = [
    "ENDLESS",
    "Search",
    "Transition",
    "search",
    "start",
    "transitions",
    "without_collecting",
]

ENDLESS = "law 4: goes round for ever: no rest can be reached"


@dataclass(frozen=True, slots=True)
class Transition:
    """From one state to `after`; `broken` are the laws that it breaks."""

    move: Move
    after: State
    broken: tuple[str, ...]


@dataclass(slots=True)
class Search:
    """What a search found: for each broken law a shortest history, and the labels of all moves."""

    states: int = 0
    transitions: int = 0
    rests: int = 0
    seconds: float = 0.0
    complete: bool = False
    broken: dict[str, list[str]] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)


def start(setting: Setting) -> State:
    """A run that a client has started and nobody has claimed."""
    return State(Run(), (), (), (), (Process(),) * COUNT, None, setting.budget)


def transitions(machine: Machine, state: State) -> Iterator[Transition]:
    """All that can happen next."""
    base = World(machine, state)
    urgent = False
    moves: list[Move] = []
    for p in range(COUNT):
        moves.extend(process_moves(base, p))
    moves += message_moves(base)
    moves += client_moves(base)
    moves += person_moves(base)
    for move in moves:
        w = World(machine, state)
        move.change(w)
        laws.transition(state, w)
        after = w.freeze()
        urgent = urgent or move.urgent
        yield Transition(move, after, tuple(w.broken))
    yield from _time_passes(machine, state, urgent=urgent)


def _time_passes(machine: Machine, state: State, *, urgent: bool) -> Iterator[Transition]:
    """While something is urgent, a tick passes only for an owner that is slow."""
    w = World(machine, state)
    if (urgent and not w.budget.slow) or not tick(w):
        return
    after = w.freeze()
    if after == state:
        return  # every clock stands still
    if urgent:
        after = after._replace(budget=after.budget._replace(slow=after.budget.slow - 1))
    label = "a tick passes" + (", the owner is slow" if urgent else "")
    yield Transition(Move(label, tick, "time"), after, ())


def search(setting: Setting, machine_type: type[Machine], *, until: tuple[str, ...] = ()) -> Search:
    """Visit every state from the start on; stop early once all of `until` has been found broken."""
    began = time.perf_counter()  # for people who wait; nothing is decided by it
    with without_collecting():
        found = _Frontier(setting, machine_type).visit_all(until)
    found.seconds = time.perf_counter() - began
    return found


@contextmanager
def without_collecting() -> Iterator[None]:
    """Millions of tuples, and not one cycle among them."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Frontier:
    """The states found so far, numbered in the order in which they were found."""

    def __init__(self, setting: Setting, machine_type: type[Machine]) -> None:
        self.machine = machine_type(setting)
        first = start(setting)
        self.numbers: dict[State, int] = {first: 0}
        self.came_from: list[tuple[int, str]] = [(-1, "")]
        self.waiting = deque([first])
        self.onward: list[tuple[int, ...]] = []  # by state: where its own moves and time lead
        self.resting: list[int] = []
        self.found = Search()

    def visit_all(self, until: tuple[str, ...]) -> Search:
        found = self.found
        while self.waiting and not (until and _all_found(until, found)):
            self._visit(self.waiting.popleft())
        found.complete = not self.waiting
        if found.complete and (endless := _endless(self.onward, self.resting)) is not None:
            found.broken.setdefault(ENDLESS, self._history(endless))
        found.states, found.rests = len(self.numbers), len(self.resting)
        return found

    def _visit(self, state: State) -> None:
        number, own = len(self.onward), []
        for transition in transitions(self.machine, state):
            label = transition.move.label
            self.found.transitions += 1
            self.found.labels.add(label)
            for law in transition.broken:
                if law not in self.found.broken:
                    self.found.broken[law] = [*self._history(number), label]
            after = self.numbers.setdefault(transition.after, len(self.numbers))
            if after == len(self.came_from):
                self.came_from.append((number, label))
                self.waiting.append(transition.after)
            if transition.move.kind in ("own", "time"):
                own.append(after)
        self.onward.append(tuple(own))
        if not own:
            self.resting.append(number)
            for law in laws.at_rest(World(self.machine, state)):
                self.found.broken.setdefault(law, self._history(number))

    def _history(self, number: int) -> list[str]:
        path: list[str] = []
        while number:
            number, label = self.came_from[number]
            path.append(label)
        return path[::-1]


def _all_found(until: tuple[str, ...], found: Search) -> bool:
    return all(any(broken.startswith(law) for broken in found.broken) for law in until)


def _endless(onward: list[tuple[int, ...]], resting: list[int]) -> int | None:
    """The first state from which no rest can be reached."""
    good = bytearray(len(onward))
    for number in resting:
        good[number] = 1
    changed = True
    while changed:  # backwards, since moves mostly lead to states found later
        changed = False
        for number in range(len(onward) - 1, -1, -1):
            if not good[number] and any(good[after] for after in onward[number]):
                good[number] = changed = True
    bad = good.find(0)
    return None if bad < 0 else bad
