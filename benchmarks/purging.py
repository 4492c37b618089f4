"""`python -m benchmarks.purging`: how fast runs are purged, and who waits for it meanwhile.

A file of finished runs, made by copying, is purged by `saga purge` in a process of its own, while
this one starts runs without a pause between them and notes how long each start took. Before that it
does the same while nobody purges.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from benchmarks.copies import copy_run
from benchmarks.figures import quantile, table
from benchmarks.product import drain, start
from benchmarks.progress import say
from saga import Client
from saga.cli import main as saga
from saga.clock import Clock
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.postgres.server import served

__all__ = ["main"]

_PATIENCE = 5.0  # seconds of starts while nobody purges


def main() -> int:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.purging", description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000, help="finished runs")
    parser.add_argument("--postgres", action="store_true", help="on the server of the tests")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the file is made")
    arguments = parser.parse_args()
    if arguments.postgres:
        with served(fsync=True) as server:
            url = server.make()
            saga(["db", "upgrade", "--db", url, "--json"])
            _measure(url, arguments.runs)
        return 0
    with tempfile.TemporaryDirectory(prefix="saga-bench-", dir=arguments.folder) as folder:
        _measure(f"sqlite:///{Path(folder).absolute() / 'filled.db'}", arguments.runs)
    return 0


def _measure(url: str, runs: int) -> None:
    began = Clock().monotonic()
    with closing(Client(url)) as client:
        start(client, "happy", ["the-original"])
        drain(url, ["the-original"], 1)
        with closing(Database(url, Keyring())) as database:
            copy_run(database, "the-original", (f"run-{n:08d}" for n in range(runs - 1)), runs - 1)
        # A request may be under way until its time is up; so long the run is needed.
        time.sleep(max(0.0, began + 35.0 - Clock().monotonic()))
        until = time.monotonic() + _PATIENCE
        alone = _starts(client, "alone", lambda: time.monotonic() < until)
        words = [
            sys.executable,
            "-m",
            "saga",
            "purge",
            "--older-than",
            "30s",
            "--json",
            "--db",
            url,
        ]
        say("purging")
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            time.sleep(1.0)  # Python has started
            purging = time.monotonic() - 1.0
            beside = _starts(client, "beside", lambda: process.poll() is None)
            spent = time.monotonic() - purging
            assert process.stdout is not None
            found = json.load(process.stdout)
    print(f"{found['runs']:,} of {runs:,} runs purged in {spent:.1f} s, its start included:")
    print(f"{spent / found['runs'] * 1e6:.0f} ms per 1,000; kept {found['kept']}")
    rows: list[tuple[str, ...]] = [
        ("starts, one after the other", "", "p50 ms", "p99 ms", "max ms")
    ]
    for name, times in (("nobody purges", alone), ("beside the purge", beside)):
        worst = (quantile(times, 0.5), quantile(times, 0.99), max(times))
        rows.append((name, f"{len(times):,}", *(f"{one:.1f}" for one in worst)))
    print(table(rows))


def _starts(client: Client, name: str, goes_on: Callable[[], bool]) -> list[float]:
    spent = list[float]()
    while goes_on():
        spent += start(client, "happy", [f"{name}-{len(spent):08d}"])
    return spent


if __name__ == "__main__":
    sys.exit(main())
