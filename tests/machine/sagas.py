"""Small sagas for the tests of the machine, written as the machine reads them.

A step is one word or several: what its provider offers (`keys`, `query`, both or `nothing`), how it
is undone and what else is special. Durations are small whole numbers, so that a walk can count
time: a call takes at most 1, is under way for at most 2, shows in a probe after 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from saga.definition.spec import (
    ApprovalSpec,
    ContractSpec,
    EachSpec,
    ProviderSpec,
    RetrySpec,
    SagaSpec,
    StepSpec,
    UndoKind,
    WaitSpec,
)

__all__ = ["TIMEOUT", "WORDS", "line", "saga"]

TIMEOUT = 1.0

WORDS = {
    "keys": "the provider honours keys",
    "query": "it can be asked by key",
    "nothing": "neither; no fact about it is declared either",
    "replays": "a refusal under a key is final for every attempt under it",
    "late": "stragglers can land until 5 after the deadline",
    "blind": "the undo works without a receipt",
    "optional": "the run goes on without it",
    "pivot": "once it has landed the run only goes forward",
    "approved": "ada or bob must approve it within 3",
    "twice": "two people must approve it within 3",
    "naps": "it calls nothing and waits for 2",
    "signal": "it calls nothing and waits for a signal, at most 3",
    "grouped": "it is part of a sub-saga that has 2",
    "each": "it is done for each of two items, both at once; an unknown one holds the other",
    "serial": "one item at a time",
    "batched": "one item is done before the next one begins",
    "lone": "an unknown item holds only itself",
    "targeted": "an unknown item holds those with the same target",
    "else": "there is an alternative of the same kind",
    "first": "it lies behind a savepoint, on its first path",
    "other": "it lies behind that savepoint, on its other path",
    "inner": "within that path, on the first path of a savepoint of its own",
    "outer": "within that path, on the other path of that one",
    "final": "that alternative cannot be undone",
    "reads": "there is nothing to undo",
    "irreversible": "it cannot be undone",
    "hurry": "the undo has a deadline",
    "passable": "a stuck undo does not hold those before it",
    "once": "one attempt, no second",
    "thrice": "three attempts",
    "lives": "two generations without a person",
    "forgetful": "keys are honoured for a short time only",
    "priced": "it costs as many EUR as its argument n says",
    "mail": "it costs one mail",
}


PATHS = {
    "first": ("p", False),
    "other": ("p", True),
    "inner": ("q", False),
    "outer": ("q", True),
}


def line(*steps: str, deadline: float | None = None, **budget: float) -> SagaSpec:
    """A saga whose steps follow each other."""
    return saga(steps, [[i - 1] if i else [] for i in range(len(steps))], deadline, **budget)


def saga(
    steps: Sequence[str],
    after: Sequence[Sequence[int]],
    deadline: float | None = None,
    **budget: float,
) -> SagaSpec:
    """A saga of `steps`, each after the positions that `after` names; its budget by name."""
    return SagaSpec(
        name="small",
        version=1,
        digest="sha256:small",
        deadline=deadline,
        steps=tuple(
            _step(index, words.split(), after, budget) for index, words in enumerate(steps)
        ),
        limits=(("g", 2.0),) if any("grouped" in words for words in steps) else (),
        budget=tuple((name, Decimal(str(limit))) for name, limit in budget.items()),
    )


def _step(
    index: int, words: list[str], after: Sequence[Sequence[int]], budget: Mapping[str, float]
) -> StepSpec:
    assert set(words) <= set(WORDS), words
    undo: UndoKind = "compensation"
    if "reads" in words:
        undo = "nothing"
    if "irreversible" in words:
        undo = "irreversible"
    wait = _wait(words)
    if wait is not None:
        undo = "nothing"
    step = StepSpec(
        index=index,
        name="abcdefgh"[index],
        effect=replace(_contract("do", words, deadline=None), cost=_cost(words, budget)),
        undo=undo,
        compensation=_contract("undo", words, deadline=3.0 if "hurry" in words else None)
        if undo == "compensation"
        else None,
        undo_reason="" if undo == "compensation" else "for a reason",
        after=tuple(after[index]),
        before=tuple(later for later, places in enumerate(after) if index in places),
        hold="passable" not in words,
        optional="optional" in words,
        declared_pivot="pivot" in words,
        wait=wait,
        groups=("g",) if "grouped" in words else (),
        approval=_approval(words),
        each=_each(words),
        path=tuple(PATHS[word] for word in ("first", "other", "inner", "outer") if word in words),
    )
    other = replace(step, name=f"{step.name}2", approval=None)
    if "final" in words:
        other = replace(other, undo="irreversible", compensation=None, undo_reason="for a reason")
    return replace(step, instead=(other,)) if "else" in words else step


def _cost(words: list[str], budget: Mapping[str, float]) -> tuple[tuple[str, str | Decimal], ...]:
    """As in a specification: only what the saga has a budget for."""
    euro, mail = ("EUR", "n"), ("mails", Decimal(1))
    found: tuple[tuple[str, str | Decimal], ...] = ()
    found += (euro,) * ("priced" in words) + (mail,) * ("mail" in words)
    return tuple((unit, price) for unit, price in found if unit in budget)


def _each(words: list[str]) -> EachSpec | None:
    if "each" not in words:
        return None
    return EachSpec(
        over=("input", "items"),
        key=None,
        on_unknown="hold_item"
        if "lone" in words
        else "hold_target"
        if "targeted" in words
        else "hold_all",
        parallel=1 if "serial" in words else 2,
        batch=1 if "batched" in words else None,
    )


def _approval(words: list[str]) -> ApprovalSpec | None:
    if "approved" not in words and "twice" not in words:
        return None
    return ApprovalSpec(
        by=("ada", "bob"),
        people=2 if "twice" in words else 1,
        expires=3.0,
        observed=None,
        scope="do@1",
        policy="1",
    )


def _wait(words: list[str]) -> WaitSpec | None:
    if "naps" in words:
        return WaitSpec(time=2.0, until=None, signal=(), limit=None)
    if "signal" in words:
        return WaitSpec(time=None, until=None, signal=(("n", True),), limit=3.0)
    return None


def _contract(name: str, words: list[str], deadline: float | None) -> ContractSpec:
    declared = "nothing" not in words
    key_life = (5.0 if "forgetful" in words else 8.0) if "keys" in words else None
    return ContractSpec(
        name=name,
        version=1,
        timeout=TIMEOUT,
        probe="query" in words,
        provider=ProviderSpec(
            name="shop",
            key_life=key_life,
            in_flight=2.0 if declared else None,
            visible_after=1.0 if declared else None,
            late_until=5.0 if "late" in words else None,
            replays_refusals="replays" in words,
        ),
        retry=RetrySpec(
            attempts=1 if "once" in words else 3 if "thrice" in words else 2,
            first=1.0,
            factor=1.0,
            longest=1.0,
            jitter=0.0,
            crashes=2,
            generations=2 if "lives" in words else 1,
        ),
        deadline=deadline,
        needs_receipt=name == "undo" and "blind" not in words,
    )
