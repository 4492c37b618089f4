"""Room for calls: at most so many at once of an effect, at a provider, on the threads we have.

Every limit is one of this process. A call has a place of each of its limits from before its sending
is recorded until it has really ended; a probe counts as a call. Two lanes lead there. New forward
work leaves one place free for what must not wait behind it: probes, undos, resends of what is
unknown. Where there is one place only, those go first. Who finds no room stands in line at the
limit that has none, oldest first, and is looked at again when a place there has become free for it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from saga.machine.state import FORWARD
from saga.orchestrator.compiled import CallLimit, Side
from saga.orchestrator.held import Due, Held
from saga.orchestrator.threads import Threads

__all__ = ["Lanes", "Place"]

Place = tuple[str, str, int]
"""A call: run id, key, attempt; 0 for a probe."""


class _Lane:
    """Who stands in line, and who has been called to a place and has not taken it yet."""

    __slots__ = ("called", "waiting")

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, Held] = OrderedDict()
        self.called: dict[str, Held] = {}

    def others(self, run: Held) -> int:
        """How many have a place promised, beside `run`."""
        return len(self.called) - (run.run_id in self.called)

    def drop(self, run_id: str) -> None:
        self.waiting.pop(run_id, None)
        self.called.pop(run_id, None)


class _Limit:
    """Places of one kind. `asked`: those that the run that is being decided on is about to take."""

    __slots__ = ("asked", "first", "later", "most", "out")

    def __init__(self, most: int) -> None:
        self.most = most
        self.out = self.asked = 0
        self.first, self.later = _Lane(), _Lane()

    def admits(self, run: Held, *, first: bool) -> bool:
        """Whether there is room for one more call of `run`, in the first lane or the later one.

        Every free place is promised to those who stand in line, so nobody overtakes them.
        """
        free = self.most - self.out - self.asked
        if first:
            return free > self.first.others(run)
        return free > self._kept + self.later.others(run)

    def take(self, run: Held, *, first: bool) -> None:
        self.asked += 1
        (self.first if first else self.later).called.pop(run.run_id, None)

    def wait(self, run: Held, *, first: bool) -> None:
        lane = self.first if first else self.later
        was_called = lane.called.pop(run.run_id, None) is not None
        lane.waiting.setdefault(run.run_id, run)
        if was_called:  # and somebody of the first lane was faster: it has waited long enough
            lane.waiting.move_to_end(run.run_id, last=False)

    def call(self) -> list[Held]:
        """Promise the free places to those who wait for longest."""
        called: list[Held] = []
        while self.first.waiting and self.most - self.out > len(self.first.called):
            called.append(_called(self.first))
        while self.later.waiting and self.most - self.out > self._kept + len(self.later.called):
            called.append(_called(self.later))
        return called

    @property
    def _kept(self) -> int:
        """The places that forward work does not take."""
        spare = 1 if self.most > 1 else 0
        return max(spare, len(self.first.called) + len(self.first.waiting))


def _called(lane: _Lane) -> Held:
    run_id = next(iter(lane.waiting))
    run = lane.called[run_id] = lane.waiting.pop(run_id)
    return run


class Lanes:
    """All limits of this process, and `threads`, which sync functions run on.

    `wake` is told of a run for which a place has become free. What a run asks for while it is
    decided on is held for it until `done`.
    """

    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.wake: Callable[[Held], None] = lambda _: None
        self._on_threads = _Limit(threads.limit)
        self._limits: dict[tuple[str, str], _Limit] = {}
        self._places: dict[Place, tuple[_Limit, ...]] = {}
        self._lines: dict[str, set[_Limit]] = {}  # by run: where it stands in line
        self._asked: set[_Limit] = set()
        self._full: set[_Limit] = set()  # where the run that is being decided on found no room
        self._asking: set[str] = set()  # keys that it may probe

    @property
    def standing(self) -> int:
        """How many runs wait for room."""
        return len(self._lines)

    def __contains__(self, place: Place) -> bool:
        return place in self._places

    def blocks(self, run: Held, due: Due) -> bool:
        """Whether there is no room for a call that is due; else it is about to take its place."""
        side = due.side
        if not side.limits and not side.threaded:
            return False
        settles = due.action is not None and due.action.state == "unknown"
        first = due.direction != FORWARD or run.state.phase != "running" or settles
        return not self._take(run, self._of(side, threaded=side.threaded), first=first)

    def blocks_probe(self, run: Held, key: str) -> bool:
        """As `blocks`, for a probe."""
        side = self._side(run, key)
        if (not side.limits and not side.probe_threaded) or key in self._asking:
            return False
        limits = self._of(side, threaded=side.probe_threaded)
        if not self._take(run, limits, first=True):
            return True
        self._asking.add(key)
        return False

    def seat(self, run: Held) -> None:
        """The calls and probes that its next record begins have their places from now on."""
        for one in run.outgoing if self._asked else ():
            side = self._side(run, one.key)
            self._seat((run.run_id, one.key, one.attempt), self._of(side, threaded=side.threaded))
        for key in run.to_ask:
            self.seat_probe(run, key)

    def seat_probe(self, run: Held, key: str) -> None:
        """A probe has its place from now on."""
        if key not in self._asking:
            return
        side = self._side(run, key)
        self._seat((run.run_id, key, 0), self._of(side, threaded=side.probe_threaded))

    def unmade(self, run: Held) -> None:
        """The calls and probes that its next record was to begin are not made."""
        for one in run.outgoing:
            self.ended((run.run_id, one.key, one.attempt))
        for key in run.to_ask:
            self.ended((run.run_id, key, 0))
        run.outgoing, run.to_ask = [], []

    def done(self, run: Held) -> None:
        """It has been decided on: it stands in line only where it has found no room."""
        stands = self._lines and run.run_id in self._lines
        if not (self._full or self._asked or self._asking or stands):
            return
        full, self._full = self._full, set()
        self._asking.clear()
        for limit in self._asked:
            limit.asked = 0
        self._asked.clear()
        before = self._lines.pop(run.run_id, set())
        if full:
            self._lines[run.run_id] = full
        for limit in before - full:
            limit.first.drop(run.run_id)
            limit.later.drop(run.run_id)
        for limit in before | full:
            for one in limit.call():
                if one is not run:  # else it would be decided on without end
                    self.wake(one)

    def ended(self, place: Place) -> None:
        """A call is over, or will not be made; nothing happens if it has no place."""
        for limit in self._places.pop(place, ()):
            limit.out -= 1
            self._call(limit)

    def forget(self, run: Held) -> None:
        """It is not ours any more: it waits for nothing, and what it has not begun is not made."""
        self.unmade(run)
        self.done(run)

    def _take(self, run: Held, limits: Sequence[_Limit], *, first: bool) -> bool:
        for limit in limits:
            if not limit.admits(run, first=first):
                limit.wait(run, first=first)
                self._full.add(limit)
                return False
        for limit in limits:
            limit.take(run, first=first)
            self._asked.add(limit)
        return True

    def _seat(self, place: Place, limits: tuple[_Limit, ...]) -> None:
        if limits and place not in self._places:
            self._places[place] = limits
            for limit in limits:
                limit.out += 1

    def _call(self, limit: _Limit) -> None:
        for run in limit.call():
            self.wake(run)

    def _side(self, run: Held, key: str) -> Side:
        action = run.state.actions[key]
        return run.saga.step_of(action).side(action.direction)

    def _of(self, side: Side, *, threaded: bool) -> tuple[_Limit, ...]:
        limits = tuple(map(self._limit, side.limits))
        return (*limits, self._on_threads) if threaded else limits

    def _limit(self, declared: CallLimit) -> _Limit:
        """Sagas that declare the same name apart share its places, and the lowest number."""
        limit = self._limits.setdefault((declared.kind, declared.name), _Limit(declared.most))
        limit.most = min(limit.most, declared.most)
        return limit
