"""The judge: every run's own account, line by line, against the books of the provider.

Where promises are kept nothing is excused. Where the provider breaks one, a wrong end is excused
only at the very step or item where it was broken, and only for the promises of `UNSEEN`: nobody
could have seen that they were broken. Such ends are counted.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from saga import Client, Run
from saga.definition.keys import place_of
from saga.testing import check_laws
from tests.hostile.books import FORGOTTEN

__all__ = ["UNSEEN", "Verdict", "judge"]

UNSEEN = {
    "ignores the key": "At most one effect per key where the provider honours keys (8.2)",
    "forgets the key early": "lands at most once per idempotency key wherever the provider "
    "honours keys or can be asked (1.1)",
    "lands too late": "sent by a process that slept past `late_until` and died before it could "
    "report, is not seen (1)",
    "denies what landed": "`compensated` is recorded only when [...] every effect then known to "
    "have landed has a landed undo (8.8)",
    FORGOTTEN: "Earliest possible landing = [...] after a counted absence, the start of its last "
    "read - `visible_after` (4)",
}
"""A broken promise that cannot be seen, and the sentence of the design that leaves it out."""


_NOTHING = "false completed: there is no effect"


@dataclass
class Verdict:
    """`wrong`: what should not be. `excused`: wrong ends that nobody could see, by promise.

    `unseen`: the runs that have one.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)
    unseen: set[str] = field(default_factory=set)
    effects: int = 0
    met: Counter[str] = field(default_factory=Counter)


def judge(client: Client, url: str, dump: Path, started: Sequence[str]) -> Verdict:
    """Compare all runs of a database with the books in `dump`."""
    books = json.loads(dump.read_text("utf-8"))
    verdict = Verdict(effects=len(books["lines"]), met=Counter(books["met"]))
    verdict.wrong += [f"{run}: {what}" for run, what in books["wrongs"]]
    excuses: dict[str, dict[str, str]] = defaultdict(dict)
    for run, place, promise in books["broken"]:
        if promise in UNSEEN:
            excuses[run][place] = promise
    missing, after = set(started), None
    while page := client.runs(limit=500, after=after):
        after = page[-1].id
        for run in page:
            missing.discard(run.id)
            verdict.outcomes[run.outcome or ("open case" if run.cases else "not ended")] += 1
            _note(verdict, run.id, excuses[run.id], _of_run(client, run, books["standing"]))
    verdict.wrong += [f"{run}: acknowledged, and not there" for run in sorted(missing)]
    for one in check_laws(url, books["lines"]):
        _note(verdict, one.run_id, excuses[one.run_id], [(None, f"{one}")])
    return verdict


def _note(
    verdict: Verdict,
    run_id: str,
    excuses: Mapping[str, str],
    findings: Iterator[tuple[str | None, str]] | Sequence[tuple[str | None, str]],
) -> None:
    """Findings with the step or item where it was found; `None`: somewhere in the run."""
    for place, what in findings:
        excuse = excuses.get(place) if place else next(iter(excuses.values()), None)
        if excuse is None:
            verdict.wrong.append(f"{run_id}: {what}")
        else:
            verdict.unseen.add(run_id)
            verdict.excused[f"{excuse}: {what.partition(' [')[0] if place else 'a law'}"] += 1


def _of_run(
    client: Client, run: Run, standing: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str | None, str]]:
    if run.damaged:
        yield None, "is damaged"
    elif run.cases:
        return  # a person has the word
    elif run.phase != "ended":
        yield None, f"has not ended and has no case: {run.phase}"
    else:
        free = {line.key for line in run.settlement if line.fate == "accepted"}
        yield from _lines(run, standing, free)
        for place, what in _net(run, standing, free):
            if what.startswith(_NOTHING) and place in _went_without(client, run):
                continue
            yield place, what


def _went_without(client: Client, run: Run) -> set[str]:
    """What was skipped, also where it has landed late since then and was undone."""
    places = {line.key: place_of(line.step, line.item) for line in run.settlement}
    events = [event for record in client.journal(run.id) for event in record.events]
    return {places[event["key"]] for event in events if event["kind"] == "skipped"}


def _lines(
    run: Run, standing: Mapping[str, Sequence[str]], free: AbstractSet[str | None]
) -> Iterator[tuple[str | None, str]]:
    """The run's own account: what it says has landed stands, and nothing else does."""
    counted: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in run.settlement:
        place = place_of(line.step, line.item)
        if line.fate == "open":
            yield place, f"{run.outcome}, and its account has an open line [{line.key}]"
        if line.key is None or line.key in free:
            continue
        receipts = counted[place, line.key]
        if line.fate == "landed":
            assert isinstance(line.receipt, dict)
            receipts.add(str(line.receipt["receipt_id"]))
    for (place, key), receipts in counted.items():
        stands = set(standing.get(key, ()))
        if extra := stands - receipts:
            yield place, f"{run.outcome}, and an effect stands uncounted [{key}: {extra}]"
        if short := receipts - stands:
            yield place, f"{run.outcome}, and an effect is counted and not there [{key}: {short}]"


def _net(
    run: Run, standing: Mapping[str, Sequence[str]], free: AbstractSet[str | None]
) -> Iterator[tuple[str | None, str]]:
    """At most one net effect of a step, or of an item of a list: one where it was needed, none of
    what was undone.
    """
    skipped = {(one.step, one.item) for one in run.failures if one.state == "skipped"}
    skipped |= {(view.name, None) for view in run.steps if view.state == "skipped"}
    lines: dict[tuple[str, str | None], set[str]] = {}
    for line in run.settlement:
        keys = lines.setdefault((line.step, line.item), set())
        keys |= {line.key} if line.key else set()
    for (step, item), keys in lines.items():
        if keys & free:
            continue
        place = place_of(step, item)
        net = sum(len(standing.get(key, ())) for key in keys)
        if net > 1 and not _reads_only(run, step):
            yield place, f"{run.outcome}, and {net} net effects [{place}]"
        if run.outcome != "completed" and net and not _reads_only(run, step):
            yield place, f"false {run.outcome}: an effect stands [{place}]"
        if run.outcome == "completed" and not net and (step, item) not in skipped:
            yield place, f"{_NOTHING} [{place}]"


def _reads_only(run: Run, step: str) -> bool:
    return step == "c" and run.saga.startswith(("optional-", "pivot-"))
