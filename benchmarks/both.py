"""`python -m benchmarks.both`: saga on PostgreSQL beside saga on SQLite, in the same run.

The server is the one that the tests use, with `fsync` on. Medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, middle, table
from benchmarks.product import product, product_at
from saga.cli import main as saga
from tests.postgres.server import Server, served

__all__ = ["main"]


def main() -> int:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.both", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument("--count", type=int, default=2000, help="sagas a measurement")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--profile", type=Path, help="profile PostgreSQL's loop into this file")
    arguments = parser.parse_args()
    gc.freeze()  # as `saga orchestrator` does
    rows: list[tuple[str, ...]] = [("", "in flight", "sagas/s", "CPU us", "p50 ms", "commits")]
    with served(fsync=True) as server:
        if arguments.profile is not None:
            return _profiled(server, arguments.profile, arguments.count, arguments.in_flight[0])
        for workload in ("happy", "compensated"):
            for in_flight in arguments.in_flight:
                count = min(arguments.count, 300) if in_flight == 1 else arguments.count
                rows += _rows(server, workload, count, in_flight, arguments.rounds)
    print(table(rows))
    return 0


def _rows(
    server: Server, workload: str, count: int, in_flight: int, rounds: int
) -> list[tuple[str, ...]]:
    found: tuple[list[Figure], list[Figure]] = ([], [])
    for number in range(rounds):
        print(f"{workload}, {in_flight} in flight, round {number + 1}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="saga-bench-", dir=".") as folder:
            found[0].append(product(Path(folder).absolute(), workload, count, in_flight))
        url = _made(server)
        found[1].append(product_at(url, workload, count, in_flight, "saga on PostgreSQL"))
        server.drop(url)
    return [
        (
            f"{one.workload}: {one.who}",
            str(one.in_flight),
            f"{one.sagas_per_second:,.0f}",
            f"{one.cpu:.0f}",
            f"{one.p50:.2f}",
            f"{one.commits:.3f}",
        )
        for one in map(middle, found)
    ]


def _made(server: Server) -> str:
    url = server.make()
    saga(["db", "upgrade", "--db", url, "--json"])
    return url


def _profiled(server: Server, file: Path, count: int, in_flight: int) -> int:
    profile = cProfile.Profile()
    profile.enable()
    print(product_at(_made(server), "happy", count, in_flight))
    profile.disable()
    profile.dump_stats(file)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
