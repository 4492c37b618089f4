"""What sleeping runs cost: the memory and the CPU of an orchestrator that has nothing to do."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.copies import copy_run
from benchmarks.figures import table
from benchmarks.processes import cost, orchestrator, until
from benchmarks.progress import say
from benchmarks.workload import SLEEPER, app, order
from saga import Client, Orchestrator
from saga.journal.database import Database
from saga.journal.sealing import Keyring

__all__ = ["Idle", "idling", "idling_table"]

_SETTLE_SECONDS = 3.0  # what starting costs is over by then
_ORIGINAL = "the-sleeping-original"


@dataclass(frozen=True, slots=True)
class Idle:
    """An orchestrator beside so many sleeping runs: MB, and percent of one CPU."""

    sleeping: int
    memory: float
    cpu: float


def idling(folder: Path, sleeping: int, watched: float) -> list[Idle]:
    """Beside none, then beside so many."""
    return [_beside(folder, 0, watched), _beside(folder, sleeping, watched)]


def _beside(folder: Path, sleeping: int, watched: float) -> Idle:
    path, log = folder / f"sleeping-{sleeping}.db", folder / f"sleeping-{sleeping}.log"
    url = f"sqlite:///{path}"
    if sleeping:
        _put_to_sleep(url, sleeping)
    say(f"an orchestrator idles for {watched:.0f} s beside {sleeping:,} sleeping runs")
    with orchestrator(
        ["saga", "orchestrator", "benchmarks.workload:app", "--db", url], log
    ) as process:
        until("runs happy", log, process, 60.0)
        time.sleep(min(_SETTLE_SECONDS, watched))
        before, began = cost(process), time.monotonic()
        time.sleep(watched)
        after, seconds = cost(process), time.monotonic() - began
        return Idle(sleeping, after.memory, (after.cpu - before.cpu) / seconds * 100)


def _put_to_sleep(url: str, sleeping: int) -> None:
    with closing(Client(url)) as client:
        client.start(SLEEPER, order(0), run_id=_ORIGINAL)
        asyncio.run(Orchestrator(app, url).run_until_idle())
        assert client.show(_ORIGINAL).due_at is not None
    with closing(Database(url, Keyring())) as database:
        names = (f"s-{number:08d}" for number in range(1, sleeping))
        copy_run(database, _ORIGINAL, names, sleeping - 1)


def idling_table(found: list[Idle]) -> str:
    """For a person."""
    base = found[0]
    rows = [
        (
            f"{one.sleeping:,} sleeping",
            f"{one.memory:.1f}",
            f"{one.memory - base.memory:+.1f}",
            f"{one.cpu:.2f}",
            f"{one.cpu - base.cpu:+.2f}",
        )
        for one in found
    ]
    return table([("an idle orchestrator", "MB", "more", "CPU %", "more"), *rows])
