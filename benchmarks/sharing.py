"""Many orchestrators at once: steps that wait 200 ms, a fixed number of runs in each process.

Two cores cannot show twice the throughput of a loop that is busy. They can show that processes do
not stand in each other's way while they wait, what a saga costs beside others, and that each gets
its share. `python -m benchmarks.sharing URL ROOM FILE` is one of them; each saga that it ships is
a byte of the file.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.figures import ratio, table
from benchmarks.options import Options
from benchmarks.processes import cost, orchestrator, until
from benchmarks.progress import Counter
from saga import App, Call, Client, Compensation, Effect, Orchestrator, Saga, Step, Undo, input_of
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.orchestrator.collector import tune_collector

__all__ = ["READY", "Shared", "app", "main", "sharing", "sharing_table", "waiting"]

READY = "is ready"
_WAIT_SECONDS = 0.2
_ROOM = 40  # runs at once in each process
_LEAST_SECONDS = 12.0  # that each of the measurements takes
_PROCESSES = (1, 2, 4)
_PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Shared:
    """So many processes at once. CPU: of all of them, in microseconds a saga.

    `least` is the share of the one that ran the fewest sagas, as a part of an equal share.
    """

    processes: int
    count: int
    sagas_per_second: float
    cpu: float
    least: float


class _Numbered(BaseModel):
    number: int


class _Done(BaseModel):
    key: str


async def _act(call: Call[_Numbered]) -> _Done:
    await asyncio.sleep(_WAIT_SECONDS)
    return _Done(key=call.key)


async def _ship(call: Call[_Numbered]) -> _Done:
    done = await _act(call)
    os.write(call.resource(_Tally).descriptor, b".")
    return done


async def _undo(call: Undo[_Numbered, _Done]) -> None:
    """Nothing is ever undone here."""


@dataclass(frozen=True, slots=True)
class _Tally:
    descriptor: int


def _step(name: str, act: Any) -> Step[_Numbered, _Done]:
    return Step(
        name, Effect(name, act), args=_GIVEN, compensation=Compensation(f"undo.{name}", _undo)
    )


_GIVEN = input_of(_Numbered)
waiting = Saga(
    "waiting", _GIVEN, [_step("reserve", _act), _step("charge", _act), _step("ship", _ship)]
)


@asynccontextmanager
async def _lifespan() -> AsyncIterator[list[object]]:
    yield [_Tally(os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND))]


app = App(waiting, lifespan=_lifespan)


def sharing(fresh: Callable[[], AbstractContextManager[str]], options: Options) -> list[Shared]:
    """One process, two, four; each of them has room for as many runs as the others."""
    found = []
    for processes in _PROCESSES:
        with fresh() as url, tempfile.TemporaryDirectory(dir=options.folder) as folder:
            found.append(_beside_each_other(url, Path(folder), processes, options.count))
    return found


def _beside_each_other(url: str, folder: Path, processes: int, most: int) -> Shared:
    each = min(most, int(_LEAST_SECONDS / (3 * _WAIT_SECONDS)) * _ROOM)
    count = each * processes
    with closing(Client(url)) as client:
        for number in range(count):
            client.start(waiting, _Numbered(number=number), run_id=f"r-{number:06d}")
    tallies = [folder / f"{number}" for number in range(processes)]
    with ExitStack() as running:
        all_of_them = []
        for tally in tallies:
            words, log = (
                ["benchmarks.sharing", url, str(_ROOM), str(tally)],
                tally.with_suffix(".log"),
            )
            all_of_them.append(running.enter_context(orchestrator(words, log)))
        for tally, process in zip(tallies, all_of_them, strict=True):
            until(READY, tally.with_suffix(".log"), process, _PATIENCE)
        before, began = [cost(one).cpu for one in all_of_them], time.monotonic()
        done = sum(one.stat().st_size for one in tallies)
        _until_ended(url, count, processes)
        seconds = time.monotonic() - began
        cpu = sum(cost(one).cpu for one in all_of_them) - sum(before)
    sizes = [one.stat().st_size for one in tallies]
    return Shared(
        processes,
        count,
        (count - done) / seconds,
        cpu * 1e6 / (count - done),
        min(sizes) / (count / processes),
    )


def _until_ended(url: str, count: int, processes: int) -> None:
    counter = Counter(f"processes: {processes}; runs that have ended", count)
    query = "SELECT count(*) FROM runs WHERE phase = 'ended'"
    with closing(Database(url, Keyring())) as database:
        while True:
            ended = database.read(lambda connection: connection.exec_driver_sql(query).scalar())
            counter.reached(int(ended or 0))
            if ended == count:
                return
            time.sleep(0.1)


def sharing_table(found: list[Shared]) -> str:
    """For a person."""
    heads = ("steps wait 200 ms", "runs", "sagas/s", "x one", "CPU us", "x one", "least share")
    one = found[0]
    rows = [
        (
            f"processes: {shared.processes}",
            f"{shared.count:,}",
            f"{shared.sagas_per_second:.0f}",
            f"{ratio(shared.sagas_per_second, one.sagas_per_second):.2f}",
            f"{shared.cpu:.0f}",
            f"{ratio(shared.cpu, one.cpu):.2f}",
            f"{shared.least:.2f}",
        )
        for shared in found
    ]
    return table([heads, *rows])


async def main(url: str, room: int) -> None:
    """Orchestrate until the process ends."""
    async with Orchestrator(app, url, runs_at_once=room) as orchestrating:
        print(f"{orchestrating.id} {READY}", flush=True)
        await orchestrating.run()


if __name__ == "__main__":
    tune_collector()  # as `saga orchestrator` does
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
