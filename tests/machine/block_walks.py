"""Walks over lists, alternatives and savepoints, at one kind of provider each."""

from __future__ import annotations

from collections.abc import Iterator

from saga.definition.spec import SagaSpec
from tests.machine.sagas import line, saga

__all__ = ["item_walks", "path_walks"]

SOME = "a lost answer, a refusal, a person"
_SPECIAL = ("irreversible", "pivot", "pivot optional", "optional lone", "passable", "lives")


def path_walks(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Another way, for a step and for several."""
    yield from _alternatives(provider)
    yield from _savepoints(provider)


def _in_a_hurry(*steps: str) -> SagaSpec:
    return line(*steps, deadline=2.0)


def item_walks(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """One effect for each of two items, alone, before and after another step."""
    for special in ("", "serial", "batched", "lone", "targeted", "blind", "reads"):
        words = f"{provider} each {special}".strip()
        for trouble in ("a lost answer, a cancel", "a lost answer, a refusal"):
            yield words, line(words), trouble, False
    grouped = f"{provider} each grouped"
    yield f"{grouped} > {provider} grouped", line(grouped, f"{provider} grouped"), "a cancel", False
    yield grouped, line(grouped), "a lost answer, a cancel", False
    words = f"{provider} each targeted serial"
    yield words, line(words), "a lost answer, a cancel", False
    words = f"{provider} each lone"
    yield words, line(words), SOME, False
    for special in _SPECIAL:
        yield f"{provider} each {special}", line(f"{provider} each {special}"), SOME, False
    words = f"{provider} each"
    yield words, line(words), "refusals, a cancel, a person", False
    yield f"{words}, deadline", _in_a_hurry(words), "a lost answer", False
    yield f"{words} > {provider}", line(words, provider), "a lost answer", False
    yield f"{provider} > {words}", line(provider, words), "a lost answer", False
    yield f"{words} > {words}", line(words, words), "a cancel", False


def _alternatives(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """What is tried where a step fails for good: alone, behind a pivot, optional, as an undo."""
    for special in ("", "once", "blind", "irreversible", "pivot", "optional", "late", "lives"):
        words = f"{provider} {special} else".replace("  ", " ")
        for trouble in ("a lost answer, two refusals", "many not sent, a slow owner"):
            yield words, line(words), trouble, False
    words = f"{provider} else"
    yield words, line(words), "refusals, a cancel, a person", False
    yield f"{words}, deadline", _in_a_hurry(words), "a lost answer, two refusals", False
    yield f"{words} > {provider}", line(words, provider), "a lost answer, two refusals", False
    yield f"{provider} > {words}", line(provider, words), "a lost answer, two refusals", False
    yield f"{words} each", line(f"{words} each serial"), "a lost answer, two refusals", False
    steps = f"{provider} else final", f"{provider} reads"
    yield " > ".join(steps), line(*steps), "refusals, a cancel, a person", False
    steps = f"{provider} pivot", f"{provider} reads else"
    yield " > ".join(steps), line(*steps), "refusals, a person", False
    asked = f"{provider} approved else"
    yield asked, line(asked), "decisions, a refusal, a slow owner", False


def _savepoints(provider: str) -> Iterator[tuple[str, SagaSpec, str, bool]]:
    """Back to a savepoint and another way: before, behind and around a pivot, one in another."""
    first, other = f"{provider} first", f"{provider} other"
    for special in ("", "blind", "passable", "irreversible", "pivot", "late", "reads", "optional"):
        steps = f"{first} {special}".strip(), first, other
        after: list[list[int]] = [[], [0], []]
        name = f"{' > '.join(steps[:2])}, or {other}"
        yield name, saga(steps, after), "a lost answer, a refusal", False
        yield name, saga(steps, after), "refusals, a person", False
    steps = first, first, other
    name = f"{first} beside {first}, or {other}"
    yield name, saga(steps, [[], [], []]), "a lost answer, a refusal", False
    steps = f"{first} irreversible", f"{first} reads", other
    name = f"{first} irreversible beside {first}, or {other}"
    yield name, saga(steps, [[], [], []]), "a lost answer, a refusal", False
    steps = f"{first} late", first, "naps other"
    name = f"{first} late > {first}, or naps other"
    yield name, saga(steps, [[], [0], []]), "one that lands late, a refusal", False
    steps = first, f"{first} late", "naps other"
    name = f"{first} > {first} late, or naps other"
    yield name, saga(steps, [[], [0], []]), "one that lands late, a refusal", False
    steps = first, first, other
    name = f"{first} > {first}, or {other}"
    yield name, saga(steps, [[], [0], []]), "a cancel, two refusals", False
    yield f"{name}, deadline", saga(steps, [[], [0], []], 3.0), "a lost answer, a refusal", False
    amid = provider, first, other, provider
    name = f"{provider} > ({first}, or {other}) > {provider}"
    yield name, saga(amid, [[], [0], [0], [1, 2]]), "a lost answer, a refusal", False
    yield name, saga(amid, [[], [0], [0], [1, 2]]), "two refusals", False
    late = f"{provider} pivot", f"{first} reads", f"{first} reads", f"{other} reads"
    yield " > ".join(late), saga(late, [[], [0], [1], [0]]), "refusals, a person", False
    for special in ("else final", "optional pivot"):
        steps = f"{first} {special}", first, other
        name = f"{first} {special} > {first}, or {other}"
        yield name, saga(steps, [[], [0], []]), "a lost answer, two refusals", False
    pair = first, other, f"{provider} inner", f"{provider} outer"
    name = f"({first}, or {other}) beside ({provider} inner, or {provider} outer)"
    yield name, saga(pair, [[], [], [], []]), "two refusals", False
    yield name, saga(pair, [[], [], [], []]), "a lost answer, a refusal", False
    nested = first, f"{first} inner", f"{first} outer", other
    yield " > ".join(nested), saga(nested, [[], [0], [0], []]), "two refusals", False
    yield " > ".join(nested), saga(nested, [[], [0], [0], []]), "a lost answer, a refusal", False
    steps = f"{first} each", first, other
    yield " > ".join(steps), saga(steps, [[], [0], []]), "a lost answer, a refusal", False
    steps = first, "signal first", other
    name = f"{first} > signal first, or {other}"
    yield name, saga(steps, [[], [0], []]), "signals, a cancel, a crash", False
