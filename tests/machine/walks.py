"""Which sagas are walked, and what may go wrong in each: few things at a time, all combinations.

All of them: `python -m tests.machine.every_walk`. Names read `steps / what may go wrong`. What
nobody can promise is left out where it happens, with its reason (`tests.machine.moves`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain

from saga.definition.spec import SagaSpec
from tests.machine.block_walks import item_walks, path_walks
from tests.machine.budget_walks import budget_walks
from tests.machine.edges import Budget
from tests.machine.sagas import line, saga
from tests.machine.walk import Walk

__all__ = ["SHORT", "WALKS"]

PROVIDERS = ("keys query", "keys", "query", "nothing")

QUIET = Budget(unknown=0, refused=0, not_sent=0, unsure=0)
TROUBLES = {
    "lost answers and a crash": QUIET._replace(unknown=2, crash=1, refused=1),
    "refusals, a cancel, a person": QUIET._replace(unknown=1, refused=1, cancel=1, verdict=1),
    "a person twice": QUIET._replace(unknown=1, unsure=1, verdict=2),
    "a webhook, a cancel, a person": QUIET._replace(unknown=1, report=1, cancel=1, verdict=1),
    "many not sent, a slow owner": QUIET._replace(not_sent=3, refused=1, slow=1, verdict=1),
    "a probe that cannot say, a cancel": QUIET._replace(unknown=1, unsure=2, cancel=1),
    "a lost answer, a cancel": QUIET._replace(unknown=1, cancel=1),
    "a lost answer, a refusal": QUIET._replace(unknown=1, refused=1),
    "a lost answer": QUIET._replace(unknown=1),
    "a lost answer, a crash, a cancel": QUIET._replace(unknown=1, crash=1, cancel=1),
    "a straggler, a person": QUIET._replace(unknown=2, straggler=1, verdict=1),
    "a straggler, a cancel": QUIET._replace(unknown=2, straggler=1, cancel=1),
    "a straggler, a probe that cannot say, a cancel": QUIET._replace(
        unknown=1, straggler=1, unsure=2, cancel=1
    ),
    "a straggler, a probe that cannot say, a person": QUIET._replace(
        unknown=1, straggler=1, unsure=2, verdict=1
    ),
    "signals, a cancel, a crash": QUIET._replace(signal=2, cancel=1, crash=1, refused=1),
    "signals, a slow owner, a person": QUIET._replace(signal=1, slow=2, verdict=1, unknown=1),
    "decisions, a cancel, a crash": QUIET._replace(decide=2, cancel=1, crash=1, unknown=1),
    "decisions, a refusal, a slow owner": QUIET._replace(decide=2, refused=1, slow=1),
    "two lost answers, a person": QUIET._replace(unknown=2, verdict=1),
    "a lost answer, a refusal, a person": QUIET._replace(unknown=1, refused=1, verdict=1),
    "a lost answer, two refusals": QUIET._replace(unknown=1, refused=2),
    "refusals, a person": QUIET._replace(refused=2, verdict=1),
    "two refusals": QUIET._replace(refused=2),
    "a cancel, two refusals": QUIET._replace(cancel=1, refused=2),
    "one that lands late, a refusal": QUIET._replace(unknown=1, straggler=1, refused=1, report=1),
    "a cancel": QUIET._replace(cancel=1),
}
ONE_STEP = (
    "",
    "blind",
    "hurry",
    "late",
    "replays",
    "forgetful",
    "forgetful thrice",
    "thrice",
    "once",
    "reads",
    "irreversible",
    "optional",
    "pivot",
)
THOROUGH = ("", "blind", "irreversible")  # the others differ little when a probe cannot say


def _steps() -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Name, saga, trouble, and whether calls are made in threads."""
    for provider in PROVIDERS:
        for special in ONE_STEP:
            words = f"{provider} {special}".strip()
            for trouble in list(TROUBLES)[: 6 if special in THOROUGH else 5]:
                yield words, line(words), trouble, False
        for trouble in ("a person twice", "many not sent, a slow owner"):
            yield f"{provider}, deadline", line(provider, deadline=3.0), trouble, False
        yield from _stragglers(provider)
        yield from _in_threads(provider)
        yield from _two_steps(provider)
    yield from _graphs()


def _blocks(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Each block at one kind of provider."""
    yield from _waits(provider)
    yield from _approvals(provider)
    yield from _groups(provider)
    yield from item_walks(provider)
    yield from path_walks(provider)
    yield from budget_walks(provider)


def _waits(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Steps that only wait, with effects before, beside and after them."""
    for wait in ("naps", "signal", "signal optional"):
        for trouble in (one for one in TROUBLES if one.startswith("signals")):
            yield f"{provider} > {wait}", line(provider, wait), trouble, False
            yield f"{wait} > {provider}", line(wait, provider), trouble, False
            beside = saga([provider, wait], [[], []])
            yield f"{provider} beside {wait}", beside, trouble, False
            yield f"{wait} > {provider}, deadline", _late(wait, provider), trouble, False
    steps = f"{provider} pivot", "signal", f"{provider} reads"
    yield " > ".join(steps), line(*steps), "signals, a slow owner, a person", False


def _approvals(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """An effect that people must agree to, alone, after, before and beside another."""
    for special in ("approved", "twice", "approved optional", "approved lives"):
        words = f"{provider} {special}"
        for trouble in (one for one in TROUBLES if one.startswith("decisions")):
            yield words, line(words), trouble, False
            yield f"{words}, deadline", _late(words), trouble, False
    words = f"{provider} approved"
    trouble = "decisions, a refusal, a slow owner"
    yield f"{provider} > {words}", line(provider, words), trouble, False
    yield f"{words} beside {provider}", saga([words, provider], [[], []]), trouble, False


def _groups(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Steps of a sub-saga with a deadline of its own, before and after others."""
    grouped = f"{provider} grouped"
    for trouble in ("a lost answer, a cancel", "many not sent, a slow owner"):
        yield f"{grouped} > {grouped}", line(grouped, grouped), trouble, False
    yield f"{provider} > {grouped}", line(provider, grouped), "a lost answer, a cancel", False
    beside = saga([grouped, provider], [[], []])
    yield f"{grouped} beside {provider}", beside, "a lost answer, a cancel", False
    yield f"{grouped} > signal grouped", line(grouped, "signal grouped"), "a lost answer", False


def _late(*steps: str) -> SagaSpec:
    return line(*steps, deadline=2.0)


def _stragglers(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """What lands after it was settled as absent, or undone while unknown."""
    for special in ("late", "late blind", "late reads", "late irreversible", "late forgetful"):
        words = f"{provider} {special}"
        for trouble in (one for one in TROUBLES if one.startswith("a straggler")):
            yield words, line(words), trouble, False
    words = f"{provider} late"
    yield f"{words} > {words}", line(words, words), "a straggler, a cancel", False


def _in_threads(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    for special in ("", "blind", "hurry"):
        words = f"{provider} {special}".strip()
        for trouble in ("lost answers and a crash", "refusals, a cancel, a person"):
            yield f"{words}, in threads", line(words), trouble, True
    words = f"{provider} thrice"
    yield f"{words}, in threads", line(words), "a lost answer, a crash, a cancel", True


def _two_steps(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    for special in ("blind", "passable", "irreversible", "reads"):
        steps = provider, f"{provider} {special}"
        yield " > ".join(steps), line(*steps), "a lost answer, a cancel", False
    steps = f"{provider} passable", f"{provider} passable"
    yield " > ".join(steps), line(*steps), "refusals, a cancel, a person", False
    steps = provider, f"{provider} irreversible"
    name = f"{' > '.join(steps)}, deadline"
    yield name, line(*steps, deadline=3.0), "a lost answer, a refusal", False
    for other in PROVIDERS:
        steps = provider, f"{other} blind"
        yield " > ".join(steps), line(*steps), "a lost answer, a refusal", False


def _graphs() -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Nothing may assume a line."""
    diamond: list[list[int]] = [[], [0], [0], [1, 2]]
    branches: list[list[int]] = [[], []]
    for provider in ("keys query", "query"):
        steps = f"{provider} optional", provider
        yield " > ".join(steps), line(*steps), "a lost answer, a cancel", False
        yield " beside ".join(steps), saga(steps, branches), "refusals, a cancel, a person", False
        steps = f"{provider} pivot", f"{provider} reads"
        yield " > ".join(steps), line(*steps), "a lost answer, a cancel", False
        yield " > ".join(steps), line(*steps), "many not sent, a slow owner", False
        join = saga([f"{provider} optional", provider, provider], [[], [], [0, 1]])
        yield f"join of {provider}, one side optional", join, "a lost answer, a refusal", False
    beside = saga(["nothing", "keys irreversible"], branches)
    yield "nothing beside keys irreversible", beside, "two lost answers, a person", False
    for provider in ("query", "nothing"):
        two, three, four = [provider] * 2, [provider] * 3, [provider] * 4
        yield f"3 x {provider}", saga(three, [[], [0], [1]]), "a lost answer, a cancel", False
        name = f"branches of {provider}"
        yield name, saga(two, branches), "a lost answer, a cancel", False
        yield name, saga(two, branches, 3.0), "a lost answer, a refusal", False
        yield name, saga(two, branches), "a person twice", False
        name = f"diamond of {provider}"
        yield name, saga(four, diamond), "a lost answer", False
        four[2] += " irreversible"
        name = f"{name}, one side irreversible"
        yield name, saga(four, diamond), "a lost answer, a cancel", False
        yield name, saga(four, diamond, 2.0), "a lost answer", False
        name = f"{provider} beside an irreversible one"
        two[1] += " irreversible"
        yield name, saga(two, branches), "refusals, a cancel, a person", False


def _made(rows: Iterable[tuple[str, SagaSpec, str, bool]]) -> dict[str, Walk]:
    walks: dict[str, Walk] = {}
    # What one walk has asked of a saga, the next need not.
    asked: dict[SagaSpec, set[Hashable]] = {}
    for name, spec, trouble, threaded in rows:
        walk = Walk(spec, TROUBLES[trouble], threaded, asked=asked.setdefault(spec, set()))
        walks[f"{name} / {trouble}"] = walk
    return walks


WALKS = _made(chain(_steps(), *map(_blocks, PROVIDERS)))
# In the tests: blocks at the provider that can do everything, and at the one that can do nothing.
SHORT = list(_made(chain(_steps(), _blocks("keys query"), _blocks("nothing"))))
