"""The steps of a saga in one row, whatever they were written in: savepoints and sub-sagas too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from saga.definition.savepoint import Savepoint
from saga.definition.spec import Path
from saga.definition.step import Followed, Step
from saga.definition.subsaga import SubSaga
from saga.errors import DefinitionError

__all__ = ["Flat", "flattened"]

_Steps: TypeAlias = tuple[Step[Any, Any], ...]


@dataclass(slots=True)
class Flat:
    """The steps in order; by their id, what they directly follow and the path that they lie on."""

    steps: list[Step[Any, Any]] = field(default_factory=list)
    follows: dict[int, _Steps] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    savepoints: set[str] = field(default_factory=set)


def flattened(entries: Sequence[Step[Any, Any] | Followed]) -> Flat:
    """The entries of a saga, those of its sub-sagas and savepoints in their place."""
    flat = Flat()
    _add(flat, entries, (), ())
    return flat


def _add(
    flat: Flat, entries: Sequence[Step[Any, Any] | Followed], before: _Steps, path: Path
) -> None:
    """Add entries that begin after `before`, on `path`."""
    for entry in entries:
        after = before if entry.after is None else _expanded(entry.after)
        if isinstance(entry, Savepoint):
            _name(flat, {entry.name})
            _add(flat, entry.steps, after, (*path, (entry.name, False)))
            _add(flat, entry.instead, after, (*path, (entry.name, True)))
        elif isinstance(entry, SubSaga):
            _name(flat, {name for inner in entry.paths.values() for name, _ in inner})
            flat.steps += entry.steps
            flat.follows |= {id(step): step.after or after for step in entry.steps}
            flat.paths |= {one: (*path, *inner) for one, inner in entry.paths.items()}
        elif isinstance(entry, Step):
            flat.steps.append(entry)
            flat.follows[id(entry)] = after
            flat.paths[id(entry)] = path
        before = _expanded([entry])


def _name(flat: Flat, names: set[str]) -> None:
    for name in names & flat.savepoints:
        raise DefinitionError(
            "duplicate-savepoint",
            f"there are two savepoints {name!r}",
            remedy="Give each its own name, and use each once",
        )
    flat.savepoints |= names


def _expanded(after: Sequence[Step[Any, Any] | Followed]) -> _Steps:
    """What follows a sub-saga or a savepoint follows its last steps."""
    return tuple(
        step for one in after for step in (one.last if isinstance(one, Followed) else (one,))
    )
