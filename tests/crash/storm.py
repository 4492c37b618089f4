"""A storm: two orchestrators on one SQLite file at a misbehaving shop, killed again and again.

python -m tests.crash.storm [--runs 1000 --kills 300 --stops 100 --seed N]

Each kill comes 0 to 120 ms after that child's first claim. Each stop lasts longer than the lease;
during every other one the second process is left alone, so that it can take over. The seed repeats
orders, misbehaviour, moments and verdicts; what meets what is up to the machine. The storm fails
unless it has done all that was asked for, every run has ended and the books agree.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saga import Client
from saga.testing import check_laws
from tests.crash.deaths import Tally, tally
from tests.crash.evidence import FileJournal, Journal
from tests.crash.nursery import Nursery
from tests.crash.watched_shop import WatchedShop
from tests.crash.weather import Place, Plan, Weather

__all__ = ["CHAOS", "Report", "judged", "main", "storm"]

_PATIENCE = 90.0  # seconds for the last runs to end
CHAOS = ("--chaos-rate", "0.2", "--chaos-refuse", "0.02")


@dataclass(frozen=True)
class Report:
    """What happened. `faults`: what should not have, or was asked for and did not."""

    plan: Plan
    seconds: float
    outcomes: Counter[str]
    effects: int
    kills: int
    latest: float  # kill, in seconds after that child's first claim
    stops: int
    taken_over: int  # runs that somebody else took up while their owner slept
    troubles: dict[str, int]
    wanted: dict[str, int]  # of each of them
    verdicts: Counter[str]
    tally: Tally
    faults: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The report as a person reads it."""
        waits = sorted(self.tally.waits)
        yield f"seed {self.plan.seed}: {self.seconds:.0f} s, {'FAILED' if self.faults else 'good'}"
        yield f"kills {self.kills}, the latest {self.latest * 1000:.0f} ms after a first claim"
        yield f"stops {self.stops}, runs taken over meanwhile {self.taken_over}"
        yield from (f"{name} {number}" for name, number in self.troubles.items())
        yield f"runs {self.outcomes.total()}: {_counts(self.outcomes)}; effects {self.effects}"
        yield f"verdicts: {_counts(self.verdicts) or 'none'}"
        yield "windows: " + ", ".join(f"{n}: {self.tally.windows[n]}" for n in (1, 2, 3, 4))
        if waits:
            shown = (f"p{p} {_percentile(waits, p):.3f} s" for p in (50, 99, 100))
            yield f"recovery of {len(waits)} runs in flight: {', '.join(shown)}"
        yield from (f"FAULT {fault}" for fault in self.faults)


def storm(plan: Plan, folder: Path) -> Report:
    """One storm, with its files in `folder`."""
    began, database = time.monotonic(), folder / "saga.db"
    place = Place(f"sqlite:///{database}", lambda: FileJournal(database))
    shop = WatchedShop(folder / "shop.db", "--chaos", plan.seed, *CHAOS)
    try:
        with Nursery(folder) as nursery, closing(Client(place.url)) as client:
            # Chance alone seldom has the shop think for longer than a process lives.
            shop.rule("slow_request", run_id="storm-*5", times=None, seconds=0.1)
            weather = Weather(plan, nursery, place, client, shop)
            weather.rage()
            for error in weather.errors:
                raise error
            weather.settle(_PATIENCE)
    finally:
        shop.stop()
    return judged(weather, place, shop, time.monotonic() - began)


def judged(weather: Weather, place: Place, shop: WatchedShop, seconds: float) -> Report:
    """What came of it, by the journal and by the shop's books."""
    with closing(place.journal()) as journal:
        return _report(weather, journal, shop, place, seconds)


def _report(
    weather: Weather, journal: Journal, shop: WatchedShop, place: Place, seconds: float
) -> Report:
    plan, ledger = weather.plan, shop.ledger()
    landings: dict[str, list[float]] = defaultdict(list)
    for row in ledger:
        landings[row["key"]].append(row["at"])
    found = tally(journal, weather.deaths, shop.arrivals(), landings)
    outcomes: Counter[str] = Counter()
    for outcome, number in journal.ask("SELECT outcome, count(*) FROM runs GROUP BY outcome"):
        outcomes[outcome or "not ended"] = number
    faults = [
        *_not_done(weather, outcomes, found),
        *_wrong_books(weather.started, journal, ledger),
        *(
            "a run was taken for damaged"
            for kind, _ in weather.person.verdicts
            if kind == "damaged"
        ),
        *(f"nobody lives any more, and there is {left.name}" for left in _left(shop.path.parent)),
        *map(str, check_laws(place.url, [_seen(row, place.adrift) for row in ledger])),
    ]
    return Report(
        plan=plan,
        seconds=seconds,
        outcomes=outcomes,
        effects=len(ledger),
        kills=len(weather.deaths),
        latest=max((death.age for death in weather.deaths), default=0.0),
        stops=len(weather.stops),
        taken_over=sum(weather.stops),
        troubles={one.name: one.done for one in weather.troubles},
        wanted={one.name: one.wanted for one in weather.troubles},
        verdicts=Counter(f"{verdict} ({kind})" for kind, verdict in weather.person.verdicts),
        tally=found,
        faults=tuple(faults),
    )


def _not_done(weather: Weather, outcomes: Counter[str], found: Tally) -> Iterator[str]:
    """What was asked for and did not happen."""
    plan = weather.plan
    for what, have, want in (
        ("kills", len(weather.deaths), plan.kills),
        ("stops", len(weather.stops), plan.stops),
        ("runs ended", outcomes.total() - outcomes["not ended"], plan.runs),
        ("runs taken over from a stopped process", sum(weather.stops), min(plan.stops, 1)),
        *((one.name, one.done, one.wanted) for one in weather.troubles),
        *((f"hits of window {n}", found.windows[n], plan.windows) for n in (1, 2, 3, 4)),
    ):
        if have < want:
            yield f"{have} {what}, {want} were asked for"


def _wrong_books(
    started: Sequence[str], journal: Journal, ledger: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Where journal, shop and what was promised to callers do not agree."""
    there = {head.run_id for head in journal.heads("phase = 'ended'")}
    for run_id in sorted(set(started) - there):
        yield f"run {run_id} was acknowledged and has not ended"
    known = {key for (key,) in journal.ask("SELECT key FROM actions")}
    for key, times in Counter(row["key"] for row in ledger).items():
        if times > 1:
            yield f"{times} effects under the key {key}"
        if key not in known:
            yield f"an effect without an intent: {key}"
    if not journal.is_sound():
        yield "the database file is damaged"


def _seen(row: dict[str, Any], adrift: float) -> dict[str, Any]:
    """A line of the shop's books, as late as the clocks of processes may have shown it."""
    return {**row, "at": row["at"] + adrift}


def _left(folder: Path) -> list[Path]:
    """Signs of life of processes, when there is none any more."""
    return sorted(folder.glob("saga.db-life-*"))


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counter.most_common())


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main() -> None:
    """Run one storm and print what came of it; exit code 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.storm", description=__doc__)
    add, usual = parser.add_argument, Plan()
    add("--runs", type=int, default=usual.runs)
    add("--kills", type=int, default=usual.kills)
    add("--stops", type=int, default=usual.stops)
    add("--windows", type=int, default=usual.windows, help="hits of each window")
    add("--seed", default=None, help="default: a new one")
    given = parser.parse_args()
    plan = Plan(
        runs=given.runs,
        kills=given.kills,
        stops=given.stops,
        windows=given.windows,
        seed=given.seed or secrets.token_hex(4),
    )
    folder = Path(tempfile.mkdtemp(prefix="storm-"))
    _say(f"seed {plan.seed}, files in {folder}")
    report = storm(plan, folder)
    _say(*report.lines())
    if report.faults:
        again = f"--runs {plan.runs} --kills {plan.kills} --stops {plan.stops}"
        _say(f"again: python -m tests.crash.storm {again} --seed {plan.seed}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
