"""A storm of runs against a hostile provider, judged by the provider's own books.

python -m tests.hostile.storm [--runs 10000 --seed 1 --at-once 200]

A real orchestrator and the provider are processes of their own; a person decides the open cases
truthfully. Moods, sagas, cancellations and verdicts come from the seed; what meets what is up to
the machine. Exit code 1 if anything is wrong that could have been seen.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from saga import Client, NotAllowed
from tests.cases.processes import Process, orchestrate
from tests.hostile import wire
from tests.hostile.judge import Verdict, judge
from tests.hostile.moods import breaks_promises, chance
from tests.hostile.person import Person, rows
from tests.hostile.provider import running_provider
from tests.hostile.sagas import app

__all__ = ["Plan", "Report", "main", "storm"]

_CANCELLED = 0.04  # how many runs somebody cancels
_ROUND = 0.25  # seconds between two looks at the queue
_UNUSUAL = ("unknown", "absent", "watched", "landed_late", "second_effect", "renewed", "skipped")
_SEEN = "SELECT count(*) FROM journal WHERE body LIKE ?"
_OPTIONS = {"lease": 15.0, "poll": 0.1, "grace": 5.0}


@dataclass
class Report:
    """What came of a storm."""

    seed: int
    runs: int
    broken: int  # runs in which promises were broken
    seconds: float
    judged: Verdict
    verdicts: Counter[str]
    cases: Counter[str]
    seen: Counter[str]  # records in which saga notes the less usual

    def lines(self) -> Iterator[str]:
        """The report as a person reads it."""
        judged = self.judged
        yield f"seed {self.seed}: {self.runs} runs in {self.seconds:.0f} s"
        yield f"runs with broken promises   {self.broken}"
        for title, counts in (
            ("ends", judged.outcomes),
            ("cases", self.cases),
            ("verdicts", self.verdicts),
            ("records of the less usual", self.seen),
            ("moods and broken promises met", judged.met),
            (f"wrong ends that nobody could see, of {len(judged.unseen)} runs", judged.excused),
        ):
            yield title
            yield from (f"  {number:8}  {name}" for name, number in counts.most_common())
        yield f"effects     {judged.effects}"
        yield f"violations  {len(judged.wrong)}"
        yield from (f"  VIOLATION {what}" for what in judged.wrong[:50])


@dataclass(frozen=True)
class Plan:
    """`patience`: seconds without any change, until what is left counts as stuck."""

    runs: int = 10_000
    seed: int = 1
    at_once: int = 200
    patience: float = 60.0


class _Storm:
    """One database, one provider, one orchestrator, one person."""

    def __init__(self, folder: Path, port: int, plan: Plan) -> None:
        self.path, self.url = folder / "saga.db", f"sqlite:///{folder / 'saga.db'}"
        self.plan, self.seed, self.sagas = plan, plan.seed, app(port).sagas
        self.started: list[str] = []
        self.client, self.counter = Client(self.url), wire.Counter(port)
        self.person = Person(self.client, self.path, self.counter, plan.seed)

    def rage(self, say: Callable[[str], object]) -> None:
        """Start all runs, so many at once, and go on until nothing moves any more."""
        runs, at_once = self.plan.runs, self.plan.at_once
        looked, moved, before = 0.0, time.monotonic(), (0, 0, 0)
        while True:
            now = self._now()
            if now != before:
                before, moved = now, time.monotonic()
            if len(self.started) == runs and not any(now[1:]):
                return
            if time.monotonic() - moved > self.plan.patience:
                return  # the judge will say what has not ended
            for _ in range(min(at_once - now[1], runs - len(self.started), 20)):
                self._start(len(self.started))
            if time.monotonic() - looked > _ROUND:
                self.person.look_at_all()
                looked = time.monotonic()
                say(f"{len(self.started)} started, {now[1]} under way, {now[2]} watched")
            if now[1] >= at_once or len(self.started) == runs:
                time.sleep(0.02)

    def _now(self) -> tuple[int, int, int]:
        """Records written, runs that have not ended, ended ones of which something is due."""
        if not self.started:
            return 0, 0, 0
        sql = (
            "SELECT (SELECT max(rowid) FROM journal), count(*) FILTER (WHERE phase <> 'ended'), "
            "count(*) FILTER (WHERE phase = 'ended' AND (due_at IS NOT NULL OR owner IS NOT NULL "
            "OR run_id IN (SELECT run_id FROM cases WHERE state = 'open'))) FROM runs "
            "WHERE phase <> 'ended' OR due_at IS NOT NULL OR owner IS NOT NULL "
            "OR run_id IN (SELECT run_id FROM cases WHERE state = 'open')"
        )
        ((records, running, watched),) = rows(self.path, sql)
        return records, running, watched

    def _start(self, number: int) -> None:
        saga = self.sagas[int(chance(self.seed, "saga", number) * len(self.sagas))]
        run_id = f"{saga.name}-{number:05}"
        self.client.start(saga, {"order": f"o{number}"}, run_id=run_id)
        self.started.append(run_id)
        if chance(self.seed, "cancel", number) < _CANCELLED:
            with suppress(NotAllowed):  # it has ended already, or gone past its pivot
                self.client.cancel(run_id, reason="changed their mind", actor="customer")

    def left(self) -> list[str]:
        """Ended runs of which something is due that nobody does."""
        sql = "SELECT run_id, due_at FROM runs WHERE phase = 'ended' AND due_at IS NOT NULL"
        return [f"{run_id}: ended, and due at {due_at}" for run_id, due_at in rows(self.path, sql)]

    def close(self) -> None:
        self.counter.close()
        self.client.close()


def storm(folder: Path, plan: Plan, say: Callable[[str], object] = len) -> Report:
    """One storm, with its files in `folder`."""
    began, seed = time.monotonic(), plan.seed
    with running_provider(seed) as port, closing(_Storm(folder, port, plan)) as one:
        one._start(0)  # makes the database
        config = {"port": port}
        process = Process(
            folder / "orchestrator.log",
            orchestrate,
            one.url,
            "tests.hostile.sagas:app",
            config,
            _OPTIONS,
        )
        try:
            one.rage(say)
            process.terminate()
            process.ended()
        finally:
            process.kill()
        one.counter.ask("dump", to=str(folder / "books.json"))
        judged = judge(one.client, one.url, folder / "books.json", one.started)
        judged.wrong += one.left()
        cases = rows(one.path, "SELECT kind, state, count(*) FROM cases GROUP BY kind, state")
        seen = {kind: rows(one.path, _SEEN, f'%"{kind}"%')[0][0] for kind in _UNUSUAL}
        return Report(
            seed=seed,
            runs=len(one.started),
            broken=sum(breaks_promises(seed, run_id) for run_id in one.started),
            seconds=time.monotonic() - began,
            judged=judged,
            verdicts=one.person.verdicts,
            cases=Counter({f"{kind}, {state}": number for kind, state, number in cases}),
            seen=Counter(seen),
        )


def _say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def main() -> None:
    """Run one storm and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.storm", description=__doc__)
    usual = Plan()
    parser.add_argument("--runs", type=int, default=usual.runs)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--at-once", type=int, default=usual.at_once)
    parser.add_argument("--patience", type=float, default=usual.patience)
    plan = Plan(**vars(parser.parse_args()))
    logging.disable(logging.WARNING)
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    _say(f"seed {plan.seed}, files in {folder}")
    report = storm(folder, plan, lambda text: _say(f"{text}   ", "\r"))
    _say("")
    _say("\n".join(report.lines()))
    if report.judged.wrong:
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
