"""What must hold among the steps of a saga.

Every error has a stable code and a remedy and is raised once, in the process that defines the saga:
a run never meets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from saga.definition.contracts import Compensation, Effect, Irreversible
from saga.definition.each import Each
from saga.definition.flat import Flat
from saga.definition.references import ReferenceParts
from saga.definition.spec import Path
from saga.definition.step import Step
from saga.definition.wait import Wait
from saga.errors import DefinitionError

__all__ = ["check_steps"]

_Steps = Sequence[Step[Any, Any]]


def check_steps(
    saga: str,
    input_model: type[BaseModel],
    flat: Flat,
) -> list[tuple[int, ...]]:
    """Check the steps of a saga against each other. Raises `DefinitionError`.

    Returns, for each step, the positions of the steps it directly follows, in ascending order.
    """
    what, steps = f"saga {saga!r}", flat.steps
    if not steps:
        raise DefinitionError("no-steps", f"{what} has no steps", remedy="Give at least one Step")
    _check_names(what, steps)
    edges = _edges(what, steps, flat.follows)
    before = _earlier(what, steps, edges)
    _check_order(what, steps, edges)
    paths = [flat.paths[id(step)] for step in steps]
    # What lies on a path need not have run by the time that something beside it does.
    earlier = [
        frozenset(one for one in found if paths[index][: len(paths[one])] == paths[one])
        for index, found in enumerate(before)
    ]
    for index, step in enumerate(steps):
        if step.approval is not None and step.approval.observed is not None:
            _check_observed(step, step.approval.observed, steps, earlier[index])
        for choice in step.choices:
            for reference in choice.args.references:
                _check_reference(choice, reference, input_model, steps, earlier[index])
    _check_labels(steps)
    _check_pivots(steps, before, paths)
    return edges


def _check_names(what: str, steps: _Steps) -> None:
    seen: set[str] = set()
    for step in (choice for one in steps for choice in one.choices):
        if step.name in seen:
            raise DefinitionError(
                "duplicate-step",
                f"{what} has two steps {step.name!r}",
                remedy="Give each its own name, also to two uses of one effect",
            )
        seen.add(step.name)


def _edges(
    what: str, steps: _Steps, follows: Mapping[int, tuple[Step[Any, Any], ...]]
) -> list[tuple[int, ...]]:
    position = {id(step): index for index, step in enumerate(steps)}
    edges: list[tuple[int, ...]] = []
    for step in steps:
        for other in follows[id(step)]:
            if id(other) not in position:
                raise DefinitionError(
                    "unknown-step",
                    f"{what}: {step.name!r} comes after {other.name!r}, which is not in it",
                    remedy="Add it to the saga's steps, or remove it from after=",
                )
        edges.append(tuple(sorted({position[id(other)] for other in follows[id(step)]})))
    return edges


def _earlier(what: str, steps: _Steps, edges: Sequence[tuple[int, ...]]) -> list[frozenset[int]]:
    """For each step all that must have landed before it. Refuses cycles."""
    found: dict[int, frozenset[int]] = {}
    waiting = list(range(len(steps)))
    while waiting:
        ready = [one for one in waiting if all(before in found for before in edges[one])]
        if not ready:
            names = ", ".join(steps[one].name for one in waiting)
            raise DefinitionError(
                "cycle",
                f"{what}: these steps wait for each other: {names}",
                remedy="Remove one from an after=; a step without after= follows the one before it",
            )
        for one in ready:
            found[one] = frozenset(edges[one]).union(*(found[before] for before in edges[one]))
        waiting = [one for one in waiting if one not in found]
    return [found[index] for index in range(len(steps))]


def _check_order(what: str, steps: _Steps, edges: Sequence[tuple[int, ...]]) -> None:
    """A saga reads from the top down; undoing goes by the list from the bottom up."""
    for index, before in enumerate(edges):
        if before and before[-1] > index:
            raise DefinitionError(
                "listed-later",
                f"{what}: {steps[index].name!r} comes after {steps[before[-1]].name!r}, which "
                "stands later in it",
                remedy="List a step after those that it follows",
            )


def _check_reference(
    step: Step[Any, Any],
    reference: ReferenceParts,
    input_model: type[BaseModel],
    steps: _Steps,
    earlier: frozenset[int],
) -> None:
    what = f"step {step.name!r} refers to {reference.place}"
    if reference.path[0] == "item":
        if not isinstance(step, Each) or reference.origin != step.over.path:
            raise DefinitionError(
                "other-item",
                f"{what}, and goes over no such list",
                remedy="Use item_of(…) of the list that an Each goes over, in its own args=",
            )
        return
    if not isinstance(reference.origin, Step):
        if reference.origin is not input_model:
            raise DefinitionError(
                "other-input",
                f"{what}, and that is no {input_model.__qualname__}",
                remedy="Use the input that the saga was given",
            )
        return
    position = next((i for i, one in enumerate(steps) if one is reference.origin), None)
    if position is None:
        raise DefinitionError(
            "unknown-step",
            f"{what}, and that step is not in this saga",
            remedy="Use a step of the same saga; of an alternative, the step that it stands in for",
        )
    if position not in earlier:
        raise DefinitionError(
            "not-before",
            f"{what}, and that step need not have run by then",
            remedy="Refer only to steps that come before, in the list or by after=",
        )
    if any(choice.effect.may_be_satisfied for choice in steps[position].choices):
        raise DefinitionError(
            "may-be-satisfied",
            f"{what}, and its effect may answer Satisfied: there may be no receipt",
            remedy="Do without it, or read what is needed in a step of its own",
        )
    if steps[position].optional:
        raise DefinitionError(
            "may-be-skipped",
            f"{what}, and that step is optional: there may be no receipt",
            remedy="Do without it, or let the step be required",
        )


def _check_observed(
    step: Step[Any, Any], observed: Step[Any, Any], steps: _Steps, earlier: frozenset[int]
) -> None:
    """What justifies an approval has been read by then."""
    for index in earlier:
        sure = not (steps[index].optional or steps[index].effect.may_be_satisfied)
        if steps[index] is observed and sure:
            return
    raise DefinitionError(
        "bad-approval",
        f"step {step.name!r}: its approval rests on {observed!r}, which need not have run",
        remedy="Give observed= a required step that comes before",
    )


def _check_labels(steps: _Steps) -> None:
    """One `name@version` is one contract: it stands for it in keys, digests and pages."""
    effects: dict[str, Effect[Any, Any]] = {}
    for step in (choice for one in steps for choice in one.choices):
        other = effects.setdefault(step.effect.label, step.effect)
        if other is step.effect:
            continue
        ours, theirs = step.effect.spec(), other.spec()
        if any(ours[part] != theirs[part] for part in ("args", "receipt", "target")):
            raise DefinitionError(
                "label-twice",
                f"step {step.name!r}: {step.effect.label} has other models or another target than "
                "the effect of the same name and version before it",
                remedy="Give it its own name or version",
            )


def _goes_back(pivot: Path, other: Path) -> bool:
    """Whether a step can fail, or be undone, beside a pivot: back to a savepoint of its own.

    Or it lies on the other path of one, which is not taken any more.
    """
    names = dict(pivot)
    return any(names.get(name, True) is not alternative for name, alternative in other)


def _check_pivots(steps: _Steps, earlier: Sequence[frozenset[int]], paths: Sequence[Path]) -> None:
    """What a pivot does not wait for must go forward: nothing takes it back once that landed."""
    for index, pivot in enumerate(steps):
        irreversible = any(isinstance(one.compensation, Irreversible) for one in pivot.choices)
        if not (pivot.pivot or irreversible):
            continue
        if isinstance(pivot, Each) and irreversible and pivot.effect.refused and not pivot.optional:
            raise DefinitionError(
                "past-pivot",
                f"each {pivot.name!r} is irreversible and has refused=: once one item has landed "
                "there is no way back for the others",
                remedy="Give it optional=True, or NothingToUndo, or no refused=",
            )
        for other, step in enumerate(steps):
            if other == index or other in earlier[index]:
                continue
            if _goes_back(paths[index], paths[other]):
                continue
            if isinstance(step, Wait) and step.signal and step.limit is None:
                raise DefinitionError(
                    "endless-wait",
                    f"wait {step.name!r} may wait for ever: once the pivot {pivot.name!r} has "
                    "landed the deadline of the saga counts no more",
                    remedy="Give it a limit=",
                )
            undone = any(isinstance(one.compensation, Compensation) for one in step.choices)
            what = "a Compensation" if undone else "refused="
            if what == "refused=" and (step.optional or not step.choices[-1].effect.refused):
                continue
            raise DefinitionError(
                "past-pivot",
                f"step {step.name!r} has {what}, and the pivot {pivot.name!r} does not wait for "
                "it: once that has landed there is no way back",
                remedy=f"Let {pivot.name!r} come after it, or declare NothingToUndo or "
                "Irreversible, without refused=",
            )
