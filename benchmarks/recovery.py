"""The section `recovery`: an orchestrator dies with thousands of calls in flight.

Another one stands by. It is measured from the signal on: `killed` (SIGKILL; on SQLite a file lock
tells at once that the process is gone, on a server its lease has to pass) and `stopped` (SIGSTOP:
it may come back, so there too). At the end the laws are checked against what really landed.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.figures import table
from benchmarks.held_up import READY, Ledger, Numbered, numbered
from benchmarks.metering import fresh
from benchmarks.options import Options
from benchmarks.processes import orchestrator, stop_between_writes, until
from benchmarks.progress import Counter, say
from benchmarks.report import Report
from saga import Client
from saga.journal.postgres import connect, parameters
from saga.journal.sqlite import library
from saga.testing import Violation, check_laws
from tests.postgres.server import served

__all__ = ["measure_recovery"]

_Place: TypeAlias = Callable[[Path], AbstractContextManager[str]]

_PATIENCE = 1800.0
_LOOK_SECONDS = 0.05
_COMES_BACK_SECONDS = 2.0
_HEADS = ("", "runs", "lease", "first", "taken up", "ended", "resent", "completed", "broken")
_NOTES = """Seconds from the signal. taken up: no run belongs to the lost process any more. Of its
calls half had landed, half had not. resent: charges that were sent a second time; broken: laws. The
goal is the lease and 5 seconds. killed, server: on PostgreSQL."""


@dataclass(frozen=True, slots=True)
class _Recovery:
    how: str
    runs: int
    lease: float
    first: float  # seconds from the signal
    taken_up: float
    ended: float
    resent: int
    completed: int
    violations: int  # of laws


def measure_recovery(options: Options) -> Report:
    """Killed, then stopped, then killed on a server that it starts."""
    report = Report("recovery", notes=[_NOTES])
    ways: tuple[tuple[str, _Place, int], ...] = (
        ("killed", _file, signal.SIGKILL),
        ("stopped", _file, signal.SIGSTOP),
        ("killed, server", _server, signal.SIGKILL),
    )
    for how, place, number in ways:
        folder = tempfile.TemporaryDirectory(prefix="recovery-", dir=options.folder)
        with folder as name, place(Path(name)) as url:
            one, broken = _recovered(options, url, Path(name), how, number)
        report.figures.append(one)
        report.notes += [f"{how}: {violation}" for violation in broken[:10]]
        report.failed |= bool(broken) or one.completed != one.runs
    report.tables.append(table([_HEADS, *map(_row, report.figures)]))
    return report


@contextmanager
def _file(folder: Path) -> Iterator[str]:
    yield f"sqlite:///{folder / 'saga.db'}"


@contextmanager
def _server(_folder: Path) -> Iterator[str]:
    with served(fsync=True) as server, fresh(server) as url:
        yield url


def _recovered(
    options: Options, url: str, folder: Path, how: str, number: int
) -> tuple[_Recovery, list[str]]:
    runs, ledger = options.killed, folder / "ledger"
    with closing(Client(url)) as client:
        counter = Counter("starting runs", runs)
        for one in range(runs):
            client.start(numbered, Numbered(number=one), run_id=f"r-{one:08d}")
            counter.reached(one + 1)
    with closing(_Watch(url)) as watch:
        times = _times(options, url, folder, watch, how, number)
        completed, resent = watch.completed(), watch.resent()
    say("checking the laws")
    broken = [f"law {one.law}, {one.run_id}: {one.detail}" for one in _broken(url, ledger)]
    return _Recovery(how, runs, options.lease, *times, resent, completed, len(broken)), broken


def _times(
    options: Options, url: str, folder: Path, watch: _Watch, how: str, number: int
) -> tuple[float, float, float]:
    """Seconds from the signal until the first run, and all, have another owner; until all ended."""
    runs, words = options.killed, ["benchmarks.held_up", url]
    words += [str(runs), str(options.lease)]
    env = {"SAGA_BENCH_LEDGER": str(folder / "ledger")}
    lost_log, heir_log = folder / "lost.log", folder / "heir.log"
    with orchestrator(words, lost_log, {**env, "SAGA_BENCH_HANGS": "1"}) as lost:
        until(READY, lost_log, lost, _PATIENCE)
        watch.until("calls are in flight", runs, watch.in_flight)
        with orchestrator(words, heir_log, env) as heir:
            until(READY, heir_log, heir, _PATIENCE)
            lost_id = lost_log.read_text().split()[0]
            say(f"{how} with {watch.in_flight():,} calls in flight")
            if number == signal.SIGSTOP:
                stop_between_writes(lost, folder / "saga.db")
            else:
                lost.send_signal(number)
            began = time.monotonic()
            first = watch.until("is taken up", 1, lambda: runs - watch.owned_by(lost_id))
            taken = watch.until("are taken up", runs, lambda: runs - watch.owned_by(lost_id))
            ended = watch.until("have ended", runs, watch.ended)
            lost.send_signal(signal.SIGCONT)  # who was only stopped comes back
            time.sleep(_COMES_BACK_SECONDS)
    return first - began, taken - began, ended - began


def _broken(url: str, path: Path) -> list[Violation]:
    ledger = Ledger(path)
    ledger.knows("")  # reads it all
    return check_laws(url, ledger.lines)


class _Watch:
    """Looks at the tables from outside, as any reader may."""

    def __init__(self, url: str) -> None:
        self._connection = _connected(url)

    def close(self) -> None:
        self._connection.close()

    def until(self, what: str, count: int, asked: Callable[[], int]) -> float:
        """When (monotonic) as many as `count` were there."""
        counter, end = Counter(f"runs that {what}", count), time.monotonic() + _PATIENCE
        while (found := asked()) < count:
            counter.reached(found)
            if time.monotonic() > end:
                raise TimeoutError(f"only {found} of {count} runs {what}")
            time.sleep(_LOOK_SECONDS)
        return time.monotonic()

    def in_flight(self) -> int:
        return self._count("SELECT count(*) FROM actions WHERE step='charge' AND state='sending'")

    def owned_by(self, owner: str) -> int:
        found = self._connection.execute("SELECT owner, count(*) FROM runs GROUP BY owner")
        return int(dict(found.fetchall()).get(owner, 0))

    def ended(self) -> int:
        return self._count("SELECT count(*) FROM runs WHERE phase='ended'")

    def completed(self) -> int:
        return self._count("SELECT count(*) FROM runs WHERE outcome='completed'")

    def resent(self) -> int:
        return self._count("SELECT count(*) FROM actions WHERE step='charge' AND attempts > 1")

    def _count(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0])


def _connected(url: str) -> Any:
    path = url.removeprefix("sqlite:///")
    if path == url:
        return connect(parameters(url))
    return library.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=30)


def _row(one: _Recovery) -> tuple[str, ...]:
    return (
        one.how,
        f"{one.runs:,}",
        f"{one.lease:g} s",
        f"{one.first:.1f} s",
        f"{one.taken_up:.1f} s",
        f"{one.ended:.1f} s",
        f"{one.resent:,}",
        f"{one.completed:,}",
        str(one.violations),
    )
