"""The section `growth`: whether a long history, or many sleeping runs, cost anything.

A file full of finished runs and a file without are measured in turn, with the same run ids. Where
these fall matters: ids that grow touch the newest pages only, ids that fall anywhere (as random
ones do) touch a page of the history each. Both are measured.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path

from benchmarks.copies import copy_run
from benchmarks.figures import in_turn, middle, quantile, ratio, table
from benchmarks.options import Options
from benchmarks.product import drain, figure, start
from benchmarks.progress import say
from benchmarks.questions import WAITING, asked, questions_table
from benchmarks.report import Report
from benchmarks.sleeping import idling, idling_table
from benchmarks.workload import HAPPY, app, order
from saga import Client, Orchestrator
from saga.journal.database import Database
from saga.journal.sealing import Keyring

__all__ = ["measure_growth"]

_IN_FLIGHT = 100
_ORIGINAL = "the-finished-original"
_PLACES = 16**12  # run ids of the history are spread over so many
_SAMPLE = 1000  # copies that are verified
_NOTES = """filled: the file with the history. start: a client's start, p50. Claim: of up to 100 due
runs, the statements alone, and with reading and verifying what was claimed. The history consists
of copies of one completed run, sealed under ids of their own."""


@dataclass(frozen=True, slots=True)
class _Growth:
    """A `Figure` of one file, and what a start costs there (p50, ms)."""

    where: str
    ids: str
    sagas_per_second: float
    cpu: float
    p50: float
    start: float


def measure_growth(options: Options) -> Report:
    """The history first, then the sleepers."""
    report = Report("growth", notes=[_NOTES])
    with tempfile.TemporaryDirectory(prefix="growth-", dir=options.folder) as name:
        folder = Path(name)
        filled = folder / "filled.db"
        _fill(filled, options.history)
        size = filled.stat().st_size
        title = f"{options.history:,} finished runs, {size / 1e9:.2f} GB; {_IN_FLIGHT} in flight"
        figures = _throughput(options, folder, filled)
        report.tables.append(f"{title}\n{_table(figures)}")
        waiting = list(islice(_names("anywhere", -1), min(WAITING, options.count)))
        answers = asked(folder / "few.db", filled, waiting, options.count)
        report.tables.append(questions_table(answers))
        report.figures += [*figures, *answers]
        report.failed |= _verified(filled, options.history, report)
        idle = idling(folder, options.sleeping, options.watched)
        report.tables.append(idling_table(idle))
        report.figures += idle
    return report


def _fill(path: Path, history: int) -> None:
    url = f"sqlite:///{path}"
    with closing(Client(url)) as client:
        client.start(HAPPY, order(0), run_id=_ORIGINAL)
        asyncio.run(Orchestrator(app, url).run_until_idle())
        assert client.show(_ORIGINAL).outcome == "completed"
    with closing(Database(url, Keyring())) as database:
        copy_run(database, _ORIGINAL, map(partial(_place, history), range(1, history)), history - 1)


def _place(history: int, number: int) -> str:
    return f"o-{number * _PLACES // history:012x}"


def _throughput(options: Options, folder: Path, filled: Path) -> list[_Growth]:
    found, series = list[_Growth](), count()
    for ids in ("growing", "anywhere"):
        ways = {
            "empty": partial(_on_empty, folder, ids, options.count, series),
            "filled": partial(_on, filled, "filled", ids, options.count, series),
        }
        rounds = in_turn(f"run ids {ids}", options.rounds, ways)
        found += [middle(figures) for figures in rounds.values()]
    return found


def _on_empty(folder: Path, ids: str, runs: int, series: Iterator[int]) -> _Growth:
    """Made anew each round, or it would be the second of two files that grow."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        return _on(Path(name) / "empty.db", "empty", ids, runs, series)


def _on(path: Path, where: str, ids: str, runs: int, series: Iterator[int]) -> _Growth:
    url, run_ids = f"sqlite:///{path}", list(islice(_names(ids, next(series)), runs))
    with closing(Client(url)) as client:
        spent = start(client, "happy", run_ids)
        one = figure(where, "happy", _IN_FLIGHT, drain(url, run_ids, _IN_FLIGHT))
    return _Growth(where, ids, one.sagas_per_second, one.cpu, one.p50, quantile(spent, 0.5))


def _names(ids: str, series: int) -> Iterator[str]:
    """Behind all of the history, or spread over it; never the same twice."""
    for number in count():
        if ids == "growing":
            yield f"p-{series:04d}-{number:08d}"
        else:
            yield f"o-{hashlib.sha256(f'{series}.{number}'.encode()).hexdigest()[:16]}"


def _verified(path: Path, history: int, report: Report) -> bool:
    """Whether something of a sample of the copies is not as the product would have written it."""
    say(f"verifying {min(_SAMPLE, history):,} of the copies")
    with closing(Client(f"sqlite:///{path}")) as client:
        step = max(history // _SAMPLE, 1)
        names = [_place(history, number) for number in range(1, history, step)]
        wrong = [one for name in names for one in client.verify(name).damages]
    report.notes.append(f"{len(names):,} copies verified, {len(wrong)} damaged")
    return bool(wrong)


def _table(figures: Sequence[_Growth]) -> str:
    rows = [("run ids", "file", "sagas/s", "of empty", "CPU us", "p50 ms", "start ms")]
    base = figures[0]
    for one in figures:
        base = one if one.where == "empty" else base
        rows.append(
            (
                one.ids,
                one.where,
                f"{one.sagas_per_second:,.0f}",
                f"{ratio(one.sagas_per_second, base.sagas_per_second):.2f}",
                f"{one.cpu:.0f}",
                f"{one.p50:.2f}",
                f"{one.start:.2f}",
            )
        )
    return table(rows)
