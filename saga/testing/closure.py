"""The fix-point crash closure: every durable state, and from each every single fault.

A crash leaves a durable state: the database and the world. From each one that is known a fresh
orchestrator lives once without a fault, which tells its fault points, and once for every way in
which each of them can fail. What that leaves is a durable state again. When no new one is found,
any number of crashes is covered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from saga.testing.likeness import likeness
from saga.testing.report import Found, Report
from saga.testing.seam import Fault, Kind, Point, Seam, Strike
from saga.testing.stage import Image, Life, Stage
from saga.testing.world import worlds_of

__all__ = ["Closure", "Options"]

_OUTAGE = 40 * 86_400.0

_CRASHES = {
    Kind.TRANSACTION: (Strike.BEFORE, Strike.UNCOMMITTED, Strike.COMMITTED),
    Kind.CALL: (Strike.UNSENT, Strike.LOST, Strike.UNANSWERED, Strike.UNRECORDED),
    Kind.PROBE: (Strike.UNSENT, Strike.LOST, Strike.UNANSWERED, Strike.UNRECORDED),
}
_RIVALS = (Strike.OVERTAKEN, Strike.CLAIMED, Strike.OVERSLEPT, Strike.NAPS)


@dataclass(frozen=True, slots=True)
class Options:
    """How far an exploration goes; see `explore`."""

    crashes: int | None = None
    runs: int | None = None
    cancel: bool = False
    signals: bool = False
    rival: bool = False
    person: bool = False
    doubt: bool = False
    enough: int = 10


@dataclass(frozen=True, slots=True)
class _Durable:
    image: Image
    trace: tuple[str, ...]
    depth: int  # crashes on the way
    judged: bool = False  # a person has decided something on the way


class Closure:
    """Explores one run from its start on, and adds what it finds to a report."""

    def __init__(self, stage: Stage, options: Options, report: Report) -> None:
        self._stage = stage
        self._options = options
        self._report = report
        self._seen: set[object] = set()
        self._new: deque[_Durable] = deque()  # to be started once, before anything else
        self._faults: deque[Iterator[tuple[_Durable, Fault, str]]] = deque()
        self._living: _Durable | None = None
        self._fault = ""
        self._runs = 0
        (saga,) = stage.app.sagas
        self._late = bool(worlds_of([saga]))
        self._spec = saga.machine_spec
        stage.passed = self._passed

    def explore(self, start: Image) -> None:
        """To the fix point, as far as the options go, or until enough was found."""
        self._stage.restore(start)
        self._stage.observer.look()
        self._reached(start, _Durable(start, (), 0))
        while (self._new or self._faults) and not self._finished():
            if self._new:
                self._start(self._new.popleft())
            elif (fault := next(self._faults[0], None)) is None:
                self._faults.popleft()
            else:
                self._live(*fault)

    def _finished(self) -> bool:
        runs = self._options.runs
        enough = len(self._report.found) >= self._options.enough
        if enough or (runs is not None and self._runs >= runs):
            self._report.complete = False
            return True
        return False

    def _start(self, state: _Durable) -> None:
        """Without a fault everything comes to rest, at once or after a long time."""
        self._report.states += 1
        points = tuple(self._live(state, None, "started").points)
        self._report.points += len(points)
        self._live(state, None, "started after a long outage", outage=_OUTAGE)
        if self._options.cancel:
            self._somebody(state, "somebody cancels", self._stage.cancel)
        if self._options.signals:
            self._somebody(state, "somebody signals", self._stage.signal)
        if self._options.crashes is None or state.depth < self._options.crashes:
            self._faults.append(self._all_faults(state, points))
        else:
            self._report.complete = False

    def _all_faults(
        self, state: _Durable, points: tuple[Point, ...]
    ) -> Iterator[tuple[_Durable, Fault, str]]:
        """Every single fault at every fault point."""
        for number, point in enumerate(points):
            for strike in self._strikes(state, point):
                yield state, Fault(number, strike), f"{point}: {strike}"

    def _strikes(self, state: _Durable, point: Point) -> Iterator[Strike]:
        yield from _CRASHES[point.kind]
        # One straggler at a time; they would only multiply.
        if point.kind is Kind.CALL and self._late and not state.image.outside.stragglers:
            yield Strike.LATE
        if self._options.cancel and point.kind is not Kind.PROBE:
            yield Strike.CANCELLED
        if self._options.signals and point.kind is not Kind.PROBE:
            yield Strike.SIGNALLED
        if point.kind is Kind.TRANSACTION:
            yield from _RIVALS if self._options.rival else ()
            yield from (Strike.REFUSED, Strike.DOUBTED) if self._options.doubt else ()

    def _live(
        self, state: _Durable, fault: Fault | None, what: str, *, outage: float = 0.0
    ) -> Life:
        self._living, self._fault = state, what
        life = self._stage.live(state.image, fault, outage=outage)
        report = self._report
        report.runs += 1
        self._runs += 1
        for point in life.points:
            report.calls += point.kind is Kind.CALL
            report.probes += point.kind is Kind.PROBE
            report.transactions += point.kind is Kind.TRANSACTION
        if fault is not None:
            report.faults[fault.strike] += 1
        trace = (*state.trace, what)
        report.found += [Found(one, "", trace) for one in dict.fromkeys(life.violations)]
        report.found += [Found(None, one, trace) for one in life.failures]
        if life.died is not None:
            self._reached(life.died, _Durable(life.died, trace, state.depth + 1, state.judged))
        else:
            self._rested(state, trace)
        return life

    def _rested(self, state: _Durable, trace: tuple[str, ...]) -> None:
        (run,) = self._stage.observer.runs.values()
        end = run.state.outcome or f"{run.state.phase}, with an open case"
        self._report.ends[end] += 1
        if run.state.open_cases and self._options.person and not state.judged:
            self._judged(state, trace)

    def _judged(self, state: _Durable, trace: tuple[str, ...]) -> None:
        """A person decides the open cases, in every way that is possible."""
        rest = self._stage.image()
        for case_id, verdict in self._stage.verdicts():
            self._stage.restore(rest)
            if self._stage.decide(case_id, verdict):
                image = self._stage.image()
                way = (*trace, f"a person decides {case_id}: {verdict}")
                self._reached(image, _Durable(image, way, state.depth, judged=True))

    def _somebody(self, state: _Durable, what: str, does: Callable[[], None]) -> None:
        """Somebody does something while no orchestrator lives."""
        self._stage.restore(state.image)
        self._stage.observer.look()
        does()
        image = self._stage.image()
        trace = (*state.trace, what)
        self._reached(image, _Durable(image, trace, state.depth, state.judged))

    def _passed(self, seam: Seam) -> None:
        """A life goes on after its fault; look at what would be there if it died here."""
        state = self._living
        if not seam.struck or seam.dead or state is None:
            return
        self._stage.observer.look()
        trace = (*state.trace, self._fault, "dies later")
        self._reached(None, _Durable(state.image, trace, state.depth + 1, state.judged))

    def _reached(self, image: Image | None, state: _Durable) -> None:
        """A durable state, as the observer sees it now; its image is taken only if it is new."""
        stage = self._stage
        now = stage.clock.now()
        key = (
            tuple(likeness(run, self._spec, now) for run in stage.observer.runs.values()),
            stage.world.outside.now.likeness(),
        )
        if key not in self._seen:
            self._seen.add(key)
            self._new.append(replace(state, image=image or stage.image()))
