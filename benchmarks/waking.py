"""How soon an orchestrator begins what another process has started."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import quantile, table
from benchmarks.processes import orchestrator, until
from benchmarks.product import names
from benchmarks.progress import say
from benchmarks.workload import HAPPY, order
from saga import Client

__all__ = ["Waking", "waking", "waking_table"]

_APART_SECONDS = 0.05  # it is at rest when the next run comes


@dataclass(frozen=True, slots=True)
class Waking:
    """Milliseconds from the call of `start` to a record of the run, by the clock of both."""

    record: str
    p50: float
    p99: float


def waking(folder: Path, runs: int) -> list[Waking]:
    """One run after the other; each is started when the one before has ended."""
    say(f"{runs} runs started in another process")
    url, log = f"sqlite:///{folder / 'saga.db'}", folder / "log"
    first, last = list[float](), list[float]()
    words = ["saga", "orchestrator", "benchmarks.workload:app", "--db", url]
    with closing(Client(url)) as client, orchestrator(words, log) as process:
        until("runs happy", log, process, 60.0)
        for number, run_id in enumerate(names(runs)):
            time.sleep(_APART_SECONDS)
            began = time.time()
            client.start(HAPPY, order(number), run_id=run_id)
            client.wait(run_id)
            times = [record.at.timestamp() for record in client.journal(run_id) if record.at]
            first.append((times[1] - began) * 1000)
            last.append((times[-1] - began) * 1000)
    return [
        Waking(what, quantile(spent, 0.5), quantile(spent, 0.99))
        for what, spent in (("its first intent", first), ("its end", last))
    ]


def waking_table(found: list[Waking]) -> str:
    """For a person."""
    rows = [(one.record, f"{one.p50:.2f}", f"{one.p99:.2f}") for one in found]
    return table([("started in another process, until", "p50 ms", "p99 ms"), *rows])
