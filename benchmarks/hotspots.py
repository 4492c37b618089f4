"""Where the time of the event loop goes: `python -m benchmarks.hotspots [happy|compensated]`.

CPU of its thread; what the writer's and SQLite itself take is not in it. What is not written in
Python counts as its caller's. A profiler makes every call dearer, so functions that are called
often look worse than they are: take the order, not the figures.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.product import drain, names, start
from saga import Client
from saga.orchestrator.collector import tune_collector

__all__ = ["Spot", "hottest", "main"]

_COUNT, _IN_FLIGHT, _TOP = 3000, 100, 10
_ROOT = str(Path(__file__).resolve().parents[1])


class Spot(NamedTuple):
    """A function: microseconds a saga in itself, and with all that it calls; calls a saga."""

    name: str
    own: float
    whole: float
    calls: float


def hottest(workload: str, count: int = _COUNT) -> list[Spot]:
    """The functions that take most of it in themselves, the dearest first."""
    with tempfile.TemporaryDirectory() as folder:
        url, profile = f"sqlite:///{folder}/saga.db", _profile()
        with closing(Client(url)) as client:
            start(client, workload, names(count))
        tune_collector()
        with profile:
            drain(url, names(count), _IN_FLIGHT)
    spots: list[Spot] = []
    for (file, _, function), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        _, calls, own, whole, _ = row
        own, whole = own * 1e6 / count, whole * 1e6 / count
        spots.append(Spot(_name(file, function), own, whole, calls / count))
    return sorted(spots, key=lambda spot: spot.own, reverse=True)


def _profile() -> cProfile.Profile:
    """Of CPU, so that waiting costs nothing."""
    return cProfile.Profile(time.thread_time, builtins=False)


def _name(file: str, function: str) -> str:
    """As it stands in the code: `calls_due  saga/machine/plan.py`."""
    own = file.startswith(_ROOT) and ".venv" not in file
    return f"{function}  {file.removeprefix(_ROOT)[1:] if own else Path(file).name}"


def main(words: list[str]) -> int:
    """Print the top ten; the exit code."""
    workload = words[0] if words else "happy"
    if workload not in ("happy", "compensated"):
        print("say happy or compensated", file=sys.stderr)
        return 2
    print(f"{workload}, microseconds a saga\n   own   whole  calls")
    for spot in hottest(workload)[:_TOP]:
        print(f"{spot.own:6.1f} {spot.whole:7.1f} {spot.calls:6.1f}  {spot.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
