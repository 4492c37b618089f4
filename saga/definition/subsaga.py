"""A sub-saga: a saga used as a step of another one, whose steps become steps of that one.

There is no child run: one journal, one deadline of the whole, one undoing. So what a finished child
did can still be taken back, and no child is left behind by its parent.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from saga.definition.bindings import Bound, bound, compile_binding
from saga.definition.each import Each
from saga.definition.names import check_name, check_text
from saga.definition.references import Reference, ReferenceParts, parts_of
from saga.definition.spec import Path
from saga.definition.step import Followed, Group, Step
from saga.errors import DefinitionError

if TYPE_CHECKING:
    from saga.definition.saga import Saga

__all__ = ["SubSaga"]

I = TypeVar("I", bound=BaseModel)  # noqa: E741 - I for input, as A and R for arguments and receipt


class SubSaga(Followed, Generic[I]):
    """A saga as a step: `SubSaga("trip", trip_saga, args=bind(Trip)(city=order.city))`.

    Its steps are those of `saga`, called `trip.hotel` and so on, with `args` for their input. It
    follows the step before it, or those that `after` names; what comes after it follows its last
    steps. The deadline of `saga` counts from when its first step begins, and bounds its own steps.
    `step(name)` is one of its steps, for references and `after`.

    Raises `DefinitionError`.
    """

    def __init__(
        self,
        name: str,
        saga: Saga[I],
        *,
        args: I,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
    ) -> None:
        self.name = check_name("sub-saga", name, 63)
        what = f"sub-saga {name!r}"
        self.title = check_text(f"title of {what}", title)
        self.after = None if after is None else tuple(after)
        self.group = Group(name, f"{saga.name}@{saga.version}", saga.deadline)
        if saga.budget is not None:
            raise DefinitionError(
                "sub-budget",
                f"{what}: {saga.name} has a budget of its own, and a run has one budget",
                remedy="Give the budget to the whole saga, and this one none",
            )
        given = bound(args, what)
        if not issubclass(given.model, saga.input_model):
            raise DefinitionError(
                "models-differ",
                f"{what} binds {given.model.__qualname__}, {saga.name} takes "
                f"{saga.input_model.__qualname__}",
                remedy=f"Write args=bind({saga.input_model.__qualname__})(…)",
            )
        if saga.exclusive is not None:
            raise DefinitionError(
                "exclusive-within",
                f"sub-saga {name!r}: {saga.name!r} is exclusive, and its steps become the parent's",
                remedy="Declare exclusive= on the saga that it is part of",
            )
        twins: dict[int, Step[Any, Any]] = {}
        for original in saga.steps:
            twins[id(original)] = self._twin(original, given, twins)
        self.steps = tuple(twins.values())
        rows = saga.machine_spec.steps
        for step, row in zip(self.steps, rows, strict=True):
            step.after = tuple(self.steps[before] for before in row.after)
        self.last = tuple(self.steps[row.index] for row in rows if not row.before)
        self.paths = {id(self.steps[row.index]): self._path(row.path) for row in rows}

    def step(self, name: str) -> Step[Any, Any]:
        """The step that its saga calls `name`; `KeyError` if there is none."""
        for step in self.steps:
            if step.name == f"{self.name}.{name}":
                return step
        raise KeyError(name)

    def _path(self, path: Path) -> Path:
        """The savepoints of its saga, by their names in the parent."""
        return tuple((f"{self.name}.{name}", alternative) for name, alternative in path)

    def _over(self, over: ReferenceParts, given: Bound) -> ReferenceParts:
        """The list of an `Each`, in the parent."""
        moved = _moved({"ref": list(over.path)}, given.binding, self.name)
        if "ref" not in moved:
            raise DefinitionError(
                "bad-each",
                f"sub-saga {self.name!r} goes over {over.place}, which is given as a literal",
                remedy="Pass it a list of the input or of a receipt",
            )
        return ReferenceParts(Reference(tuple(moved["ref"]), over.type, over.origin))

    def __repr__(self) -> str:
        return f"<SubSaga {self.name} of {self.group.saga}>"

    def _twin(
        self, original: Step[Any, Any], given: Bound, twins: Mapping[int, Step[Any, Any]]
    ) -> Step[Any, Any]:
        """The step in its parent: another name, the parent's input, its own kind behind it."""
        twin = copy.copy(original)
        twin.name = check_name("step", f"{self.name}.{original.name}")
        twin.args = _rebound(original.args, given, self.name, twins)
        twin.build = compile_binding(twin.args.binding)
        if isinstance(twin, Each):
            twin.over = self._over(twin.over, given)
        if original.approval is not None and original.approval.observed is not None:
            twin.approval = copy.copy(original.approval)
            twin.approval.observed = twins[id(original.approval.observed)]
        inner = [
            Group(f"{self.name}.{group.name}", group.saga, group.deadline)
            for group in original.groups
        ]
        twin.groups = (self.group, *inner)
        twin.instead = tuple(self._twin(one, given, twins) for one in original.instead)
        return twin


def _rebound(args: Bound, given: Bound, prefix: str, twins: Mapping[int, Step[Any, Any]]) -> Bound:
    """Arguments that refer to the parent's input and to the twins of the child's steps."""
    binding = _moved(args.binding, given.binding, prefix)
    moved = [
        parts_of(Reference((f"{prefix}.{parts.path[0]}", *parts.path[1:]), parts.type, twin))
        for parts in args.references
        if (twin := twins.get(id(parts.origin))) is not None
    ]
    references: tuple[ReferenceParts, ...] = tuple(one for one in moved if one is not None)
    return Bound(args.model, binding, references + given.references)


def _moved(binding: Any, given: Mapping[str, Any], prefix: str) -> Any:
    match binding:
        case {"ref": ["input", *path]}:
            return _below(given, path)
        case {"ref": [step, *path]} if step != "item":
            return {"ref": [f"{prefix}.{step}", *path]}
        case {"fields": fields}:
            return {"fields": {name: _moved(one, given, prefix) for name, one in fields.items()}}
        case {"dict": fields}:
            return {"dict": {name: _moved(one, given, prefix) for name, one in fields.items()}}
        case {"list": items}:
            return {"list": [_moved(one, given, prefix) for one in items]}
        case _:
            return binding


def _below(given: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The binding of what the child knows as a field of its input."""
    found: Any = given
    for number, name in enumerate(path):
        match found:
            case {"ref": way}:
                return {"ref": [*way, *path[number:]]}
            case {"fields": fields} | {"dict": fields}:
                found = fields.get(name, {"value": None})
            case {"value": value}:
                found = {"value": value[name] if isinstance(value, dict) else None}
            case _:
                raise ValueError(f"no binding has the keys {sorted(found)}")
    return dict(found)
