"""What is played at a provider: a run that is cut at the 20th up to its end, and a cancelled one.

Each scene gives back its figures, and whether they are what they must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from examples.notifications.stage import READERS, Counts, Stage, counts
from saga import Case, Run
from saga.testing import check_laws

__all__ = [
    "Cancelled",
    "Cut",
    "Person",
    "Recovery",
    "broken_laws",
    "cancelled_at_19",
    "cancelled_at_20",
    "cut_at_20",
]

_RESENT = "sent it again, under the same key"
_ASKED = "asked by the same key: it was there"
_CASE = "opened a case: only a person can find out"


@dataclass(frozen=True)
class Recovery:
    """What became of the 20th after the kill, as the journal has it.

    `first`: what the next orchestrator did first about it. `meanwhile`: how many others were begun
    before it was settled. `begins`: in which record the 21st was.
    """

    first: str
    meanwhile: int
    begins: str


@dataclass(frozen=True)
class Person:
    """The case, what holds the others back while it is open, and what its person finds."""

    case: Case
    holds: str
    found: str


@dataclass(frozen=True)
class Cut:
    """A run whose orchestrator was killed when the 20th had landed, up to its end.

    `outside`: how many the provider had sent by then. `keys`: all that the 20th ever had.
    """

    saga: str
    killed: Counts
    outside: int
    keys: tuple[str, ...]
    recovery: Recovery
    person: Person | None
    end: Run
    sent: int
    requests: int
    most_for_one: int

    @property
    def right(self) -> bool:
        """100 have landed outside, one for each reader, and the run says so too."""
        recovery, requests = _EXPECTED[self.saga]
        return (
            (self.killed, self.outside) == (Counts(19, 1, 0, 80), 20)
            and (len(self.keys), self.recovery) == (1, recovery)
            and (self.person is not None) == (recovery.first == _CASE)
            and (self.end.outcome, counts(self.end)) == ("completed", Counts(100, 0, 0, 0))
            and (self.sent, self.requests, self.most_for_one) == (100, requests, 1)
        )


# What must come out for each definition, and how many requests its provider must have seen.
_EXPECTED = {
    "notify-keys": (Recovery(_RESENT, 0, "the same"), 101),
    "notify-queries": (Recovery(_ASKED, 0, "the same"), 100),
    "notify-neither": (Recovery(_CASE, 0, "a later"), 100),
    "one-by-one": (Recovery(_CASE, 0, "a later"), 100),
    "others-go-on": (Recovery(_CASE, 80, "an earlier"), 100),
}


@dataclass(frozen=True)
class Cancelled:
    """A run that was cancelled: what the answer said, and what it came to.

    `asked`: the counts while a person has the word, where one was needed.
    """

    answer: Counts
    asked: Counts | None
    end: Run
    sent: int
    most_for_one: int

    def right(self, answer: Counts, landed: int) -> bool:
        """The figures are these, and the provider's ledger agrees."""
        ended = (self.end.outcome, self.end.cause) == ("compensated", "cancelled")
        books = (self.sent, self.most_for_one) == (landed, 1)
        left = Counts(landed, 0, 0, len(READERS) - landed)
        return ended and books and (self.answer, counts(self.end)) == (answer, left)


def cut_at_20(stage: Stage, saga: str, run_id: str) -> Cut:
    """Kill at the 20th, let another orchestrator go on, ask a person where it cannot."""
    killed = stage.cut(saga, run_id, 20)
    before, outside = len(stage.client.journal(run_id)), len(stage.ledger.sent(run_id))
    run, person = stage.carry_on(run_id), None
    if run.cases:
        person = _ask(stage, run)
        run = stage.carry_on(run_id)
    keys = tuple(event["key"] for _, event in _events(stage, run_id) if _intends(event, "20"))
    return Cut(
        saga=saga,
        killed=counts(killed),
        outside=outside,
        keys=keys,
        recovery=_recovery(stage, run_id, before, keys[0]),
        person=person,
        end=run,
        sent=len(stage.ledger.sent(run_id)),
        requests=stage.ledger.requests(run_id),
        most_for_one=stage.ledger.most_for_one(run_id),
    )


def cancelled_at_19(stage: Stage, saga: str, run_id: str) -> Cancelled:
    """Cancel while the answer to the 19th is under way; nobody dies."""
    stage.start(saga, run_id)
    stage.hold(19)
    with stage.orchestrator("--until-idle") as process:
        stage.reach(run_id, 19)
        answer = stage.client.cancel(run_id, reason="it has a wrong date", actor="ada")
        stage.let_go()
        stage.leaves(process)
    return _cancelled(stage, run_id, answer, None)


def cancelled_at_20(stage: Stage, saga: str, run_id: str) -> Cancelled:
    """Cancel after the kill, when the 20th has landed and nobody knows."""
    stage.cut(saga, run_id, 20)
    answer = stage.client.cancel(run_id, reason="it has a wrong date", actor="ada")
    run = stage.carry_on(run_id)
    asked = counts(run) if run.cases else None
    if run.cases:
        _ask(stage, run)
    return _cancelled(stage, run_id, answer, asked)


def broken_laws(stage: Stage) -> list[str]:
    """What is wrong with any run of this stage, by the provider's ledger."""
    ledger = [row | {"of_key": None} for row in stage.ledger.all()]
    return [f"law {v.law}, {v.run_id}: {v.detail}" for v in check_laws(stage.url, ledger)]


def _cancelled(stage: Stage, run_id: str, answer: Run, asked: Counts | None) -> Cancelled:
    return Cancelled(
        answer=counts(answer),
        asked=asked,
        end=stage.client.show(run_id),
        sent=len(stage.ledger.sent(run_id)),
        most_for_one=stage.ledger.most_for_one(run_id),
    )


def _ask(stage: Stage, run: Run) -> Person:
    """Ada reads the case, looks in the provider's own list, and says what is there."""
    case = stage.client.case(run.cases[0])
    holds = [hold.text for hold in stage.client.why(run.id).holds if hold.rule == "items"]
    reader = next(reader for reader in READERS if str(reader.number) == case.item)
    (there,) = [row for row in stage.ledger.sent(run.id) if row["address"] == reader.address]
    message = f"message-{there['number']}"
    found = f"{message} to {reader.address}"
    stage.client.resolve(
        case.id,
        "landed",
        receipt={"message": message},
        reason=f"the provider's list has {found}",
        actor="ada",
    )
    return Person(case, "; ".join(holds), found)


def _recovery(stage: Stage, run_id: str, before: int, key: str) -> Recovery:
    """Read on in the journal from the record before the kill."""
    first, meanwhile = "", 0
    begun = settled = 0  # the records of the 21st's intent, and of what became of the 20th
    for record, event in _events(stage, run_id, before):
        if event.get("key") == key:
            first = first or _move(event)
            settled = record if event["kind"] == "landed" else settled
        elif event["kind"] == "intended":
            meanwhile += not settled
            begun = record if _intends(event, "21") else begun
    begins = "the same" if begun == settled else "a later" if begun > settled else "an earlier"
    return Recovery(first, meanwhile, begins)


def _move(event: Mapping[str, Any]) -> str:
    """What was done about an unknown action, in words; empty for what only notes something."""
    if event["kind"] == "landed":
        return _ASKED if event["source"] == "probe" else "was told"
    moves = {"sending": _RESENT, "case_opened": _CASE, "probed": "asked, and was not told"}
    return moves.get(event["kind"], "")


def _events(stage: Stage, run_id: str, before: int = 0) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """All that is on record after the record `before`, with the number of its record."""
    for record in stage.client.journal(run_id)[before:]:
        for event in record.events:
            yield record.seq, event


def _intends(event: Mapping[str, Any], item: str) -> bool:
    return (event["kind"], event.get("item")) == ("intended", item)
