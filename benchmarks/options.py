"""The command line: `python3 dev.py bench [SECTION...]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SECTIONS", "Options", "parse"]

SECTIONS = ("sqlite", "postgres", "peers", "growth", "recovery", "storm")

_ABOUT = """How fast saga is, beside what it can be compared with, in the same run.

sections:
  sqlite    the three-step saga on an SQLite file, beside two hand-written floors:
            one that commits per transition, one that shares commits (5 minutes)
  postgres  the same on a PostgreSQL server that it starts, and one to four
            processes whose steps wait (8 minutes)
  peers     the same saga on DBOS and agent-saga, on files, then on DBOS and Absurd,
            on a PostgreSQL server that it starts; each from PyPI in a venv of its
            own under the folder, where it installs them the first time (15 minutes)
  growth    a file with a million finished runs beside an empty one, and what
            100,000 sleeping runs cost (15 minutes, 10 GB; --history takes less)
  recovery  an orchestrator is killed with 10,000 runs in flight: how long until
            another one has taken them all up, and do the laws hold (2 minutes)
  storm     four orchestrators on a PostgreSQL server, processes killed and stopped,
            the server stopped at once, connections cut in a COMMIT, clocks that jump:
            do the laws hold (a minute; --long 10 to 20, --part 0.1 a tenth of that)
  all       one after the other

Without a section: sqlite. Every way of doing it is measured in turn, round after
round; a table shows the medians. Other work on the machine changes the figures,
less the ratios of one run: trust those. The tables go to stdout, progress goes to
stderr, and FOLDER/results/SECTION.json holds all figures.
"""
_MORE = """examples:
  python3 dev.py bench                          sqlite, as the documents quote it
  python3 dev.py bench --rounds 1 --count 300   a quick look
  python3 dev.py bench peers --peer agent-saga  one of them only
  python3 dev.py bench storm --long --seed 7    1,000 kills, 50 stops of the server, ...
  python3 dev.py bench growth --history 50000 --sleeping 5000

What the figures mean, and some of them: docs/performance.md. Exit codes: 0 measured,
1 something was not measured or broke a law, 2 usage, 130 Ctrl-C.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, and how much of it."""

    sections: tuple[str, ...]
    rounds: int
    count: int
    in_flight: tuple[int, ...]
    peers: tuple[str, ...]
    history: int
    sleeping: int
    watched: float
    killed: int
    lease: float
    long: bool
    part: float
    seed: str
    folder: Path


def parse(words: Sequence[str], peers: Sequence[str]) -> Options:
    """Read the command line; exits with 2, or after `--help`. `peers`: their names."""
    parser = _parser(peers)
    given = parser.parse_args(words)
    names = given.section or ["sqlite"]
    for name in names:
        if name not in (*SECTIONS, "all"):
            parser.error(f"no section {name!r}; there are {', '.join(SECTIONS)} and all")
    return Options(
        sections=SECTIONS if "all" in names else tuple(dict.fromkeys(names)),
        rounds=given.rounds,
        count=given.count,
        in_flight=tuple(given.in_flight or ()),
        peers=tuple(given.peer or peers),
        history=given.history,
        sleeping=given.sleeping,
        watched=given.watched,
        killed=given.killed,
        lease=given.lease,
        long=given.long,
        part=given.part,
        seed=given.seed,
        folder=given.folder.absolute(),
    )


def _parser(peers: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py bench",
        description=_ABOUT,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("section", nargs="*", metavar="SECTION", help="see above")
    add("--folder", type=Path, default=Path(".bench"), help="results, venvs, files (.bench)")
    add("--rounds", type=_whole, default=3, metavar="N", help="interleaved rounds (3)")
    add("--count", type=_whole, default=3000, metavar="N", help="sagas of a measurement (3000)")
    add(
        "--in-flight",
        type=_whole,
        action="append",
        metavar="N",
        help="sqlite, postgres, peers: only with so many at once; may be repeated",
    )
    add("--peer", action="append", choices=peers, help="peers: only this one; may be repeated")
    add("--history", type=_whole, default=1_000_000, metavar="N", help="growth: finished runs")
    add("--sleeping", type=_whole, default=100_000, metavar="N", help="growth: sleeping runs")
    add("--watched", type=float, default=20.0, metavar="S", help="growth: seconds of idling (20)")
    add("--killed", type=_whole, default=10_000, metavar="N", help="recovery: runs in flight")
    add("--lease", type=float, default=15.0, metavar="S", help="recovery: the lease (15)")
    add("--long", action="store_true", help="storm: the long one")
    add("--part", type=_part, default=1.0, metavar="X", help="storm: so much of the long one (1)")
    add("--seed", default="", help="storm: the seed of orders and faults (a new one)")
    return parser


def _part(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError("a number above 0, at the most 1, is needed")
    return number


def _whole(text: str) -> int:
    number = int(text.replace(",", "").replace("_", ""))
    if number < 1:
        raise argparse.ArgumentTypeError("a whole number from 1 on is needed")
    return number
