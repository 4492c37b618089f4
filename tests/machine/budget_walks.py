"""Which sagas with a budget are walked: `tests.machine.walks` has the troubles by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saga.definition.spec import SagaSpec
from tests.machine.sagas import line, saga

__all__ = ["budget_walks"]

SOME = "a lost answer, a refusal, a person"


def budget_walks(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """What is counted, in each direction, of items and beside others; and what a person allows."""
    crash, slow = "lost answers and a crash", "many not sent, a slow owner"
    priced = f"{provider} thrice priced"
    for limits in ({"calls": 1}, {"calls": 2}, {"calls": 3}, {"attempts": 1}, {"EUR": 1.0}):
        name = f"{priced}, {_said(limits)}"
        for trouble in (SOME, crash, slow, "refusals, a cancel, a person"):
            yield name, line(priced, **limits), trouble, False
    yield f"{priced}, in threads, 3 calls", line(priced, calls=3), crash, True
    yield f"{priced} lives, 2 EUR", line(f"{priced} lives", EUR=2), SOME, False
    for special in ("pivot", "irreversible", "optional", "approved", "blind", "late"):
        words = f"{provider} {special} priced"
        yield f"{words}, 1 attempts", line(words, attempts=1), SOME, False
        yield f"{words}, 2 calls", line(words, calls=2), "a lost answer, a cancel", False
        yield f"{words}, 1 EUR", line(words, EUR=1), "decisions, a refusal, a slow owner", False
    twice = f"{provider} mail", f"{provider} mail"
    for limits in ({"calls": 2}, {"mails": 1}, {"attempts": 1, "mails": 1}):
        beside = saga(twice, [[], []], **limits)
        yield f"{' beside '.join(twice)}, {_said(limits)}", beside, "a lost answer, a cancel", False
        name = f"{' > '.join(twice)}, {_said(limits)}"
        yield name, line(*twice, **limits), "a lost answer, a refusal, a person", False
    three = saga([f"{provider} mail"] * 3, [[], [], []], mails=1)
    yield f"3 branches of {provider} mail, 1 mails", three, "a cancel", False
    for special in ("lone", "targeted", "serial"):
        words = f"{provider} each {special} mail"
        yield f"{words}, 1 mails", line(words, mails=1), "a lost answer, a refusal, a person", False
    late = f"{provider} late priced"
    name, straggles = f"{late}, 2 EUR, 3 calls", line(late, EUR=2, calls=3)
    yield name, straggles, "a straggler, a person", False
    yield f"{provider} mail else, 1 mails", line(f"{provider} mail else", mails=1), SOME, False
    yield f"{provider} mail else, 3 calls", line(f"{provider} mail else", calls=3), SOME, False
    ways = f"{provider} first mail", f"{provider} first mail", f"{provider} other mail"
    for limits in ({"mails": 2}, {"calls": 3}, {"attempts": 2}):
        name = f"{' > '.join(ways[:2])}, or {ways[2]}, {_said(limits)}"
        yield name, saga(ways, [[], [0], []], **limits), "a lost answer, a refusal", False


def _said(limits: Mapping[str, float]) -> str:
    return ", ".join(f"{limit:g} {name}" for name, limit in limits.items())
