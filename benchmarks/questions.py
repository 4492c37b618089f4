"""What is asked of a database while it works: claims, lists, health."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import quantile, table
from benchmarks.processes import ROOT
from benchmarks.product import drain, start
from benchmarks.progress import say
from benchmarks.workload import app
from saga import Client
from saga.journal.database import Database
from saga.journal.ownership import claim
from saga.journal.sealing import Keyring
from saga.journal.sharing import Circle
from saga.journal.takeup import take_up

__all__ = ["WAITING", "Answer", "asked", "questions_table"]

WAITING = 500  # runs that are due while it is asked
_CLAIM = 100  # runs of one claim, as an orchestrator asks for
_TIMES = 200
_SECONDS = 5.0  # a slow question is asked less often
_OWNER = "nobody-but-a-question"


@dataclass(frozen=True, slots=True)
class Answer:
    """A question to one file, and how long its answers took (ms)."""

    file: str
    question: str
    p50: float
    p99: float
    times: int


class _BackError(Exception):
    """A transaction that is only looked at is rolled back."""


def asked(few: Path, filled: Path, waiting: Sequence[str], most: int) -> list[Answer]:
    """Ask both files everything in turn, while the runs `waiting` are due in each of them.

    Nothing is asked more often than `most`. Afterwards the runs are run.
    """
    times = min(_TIMES, most)
    with ExitStack() as stack:
        pair = [_questions(stack, f"sqlite:///{path}", waiting) for path in (few, filled)]
        found = [
            one for name in pair[0] for one in _answers(name, times, *(each[name] for each in pair))
        ]
    for path in (few, filled):
        drain(f"sqlite:///{path}", waiting, _CLAIM)
    return found


def _questions(
    stack: ExitStack, url: str, waiting: Sequence[str]
) -> dict[str, Callable[[], float]]:
    client = stack.enter_context(closing(Client(url)))
    start(client, "happy", waiting)
    database = stack.enter_context(closing(Database(url, Keyring())))
    return {
        f"claim of {_CLAIM}": lambda: _claimed(database, Circle()),
        "the same, shared": lambda: _claimed(database, Circle(crowded=True)),
        "with verifying": lambda: _taken_up(database),
        "client.runs()": lambda: _timed(client.runs),
        'client.runs("running")': lambda: _timed(lambda: client.runs("running")),
        'client.runs(saga="x")': lambda: _timed(lambda: client.runs(saga="x")),
        "client.show(...)": lambda: _timed(lambda: client.show(waiting[0])),
        "client.cases()": lambda: _timed(client.cases),
        "client.health()": lambda: _timed(client.health),
        "saga runs": lambda: _command(url, "runs"),
        "saga health": lambda: _command(url, "health"),
    }


def _answers(
    name: str, most: int, few: Callable[[], float], filled: Callable[[], float]
) -> list[Answer]:
    say(f"asking: {name}")
    for question in (few, filled) if not name.startswith("saga ") else ():
        question()  # what a process compiles or reads first is not the answer
    spent: tuple[list[float], list[float]] = ([], [])
    end = time.monotonic() + _SECONDS
    while not spent[0] or (len(spent[0]) < most and time.monotonic() < end):
        spent[0].append(few() * 1000)
        spent[1].append(filled() * 1000)
    return [
        Answer(file, name, quantile(times, 0.5), quantile(times, 0.99), len(times))
        for file, times in zip(("few", "filled"), spent, strict=True)
    ]


def _timed(question: Callable[[], object]) -> float:
    began = time.perf_counter()
    question()
    return time.perf_counter() - began


def _claimed(database: Database, circle: Circle) -> float:
    digests = [saga.digest() for saga in app.sagas]

    def work(connection: Any) -> list[Any]:
        now = database.now()
        return claim(connection, _OWNER, digests, now=now, limit=_CLAIM, held=(), circle=circle)

    return _looked_at(database, work)


def _taken_up(database: Database) -> float:
    specs = {saga.digest(): saga.machine_spec for saga in app.sagas}

    def work(connection: Any) -> list[Any]:
        return take_up(
            connection,
            database.keys,
            _OWNER,
            specs,
            now=database.now(),
            limit=_CLAIM,
            held=(),
            circle=Circle(),
            skip=(),
            turns=(),
            settling=False,
            statements=database.statements,
        ).taken

    return _looked_at(database, work)


def _looked_at(database: Database, work: Callable[[Any], list[Any]]) -> float:
    """How long `work` takes in a write transaction that comes to nothing."""
    spent = list[float]()

    def rolled_back(connection: Any) -> None:
        began = time.perf_counter()
        found = work(connection)
        spent.append(time.perf_counter() - began)
        assert found, "nothing was due"
        raise _BackError

    try:
        database.write(rolled_back)
    except _BackError:
        return spent[-1]
    raise AssertionError("it was written")


def _command(url: str, verb: str) -> float:
    """A command as a person gives it, the start of Python included."""
    words = [sys.executable, "-m", "saga", verb, "--db", url]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return _timed(
        lambda: subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
    )


def questions_table(answers: Sequence[Answer]) -> str:
    """Each question with its answers from the empty and from the filled file."""
    rows: list[tuple[str, ...]] = [("", "few: p50 ms", "p99 ms", "filled: p50 ms", "p99 ms")]
    for few, filled in zip(answers[::2], answers[1::2], strict=True):
        times = (few.p50, few.p99, filled.p50, filled.p99)
        rows.append((few.question, *(f"{one:,.2f}" for one in times)))
    return table(rows)
