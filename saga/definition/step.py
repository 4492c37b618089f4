"""A step: one named use of an effect in a saga."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from saga.definition.approval import Approval
from saga.definition.bindings import bound, compile_binding
from saga.definition.contracts import Compensation, Effect, Irreversible, NothingToUndo
from saga.definition.names import check_name, check_text
from saga.definition.references import refer
from saga.errors import DefinitionError

__all__ = ["Followed", "Group", "Step"]

A = TypeVar("A", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)

# The roots of references that are no steps.
_RESERVED = frozenset({"input", "item"})


@dataclass(frozen=True, slots=True)
class Group:
    """What steps have in common that came from one sub-saga. `deadline`: seconds from its begin."""

    name: str
    saga: str
    deadline: float | None


class Followed:
    """What steps may come after without being a step itself: `last` are its last steps."""

    after: tuple[Step[Any, Any] | Followed, ...] | None
    last: tuple[Step[Any, Any], ...]


class Step(Generic[A, R]):
    """A named use of an effect: its arguments, what takes it back, and what must come before.

    `args` is `bind(Model)(...)`, an input or a receipt passed whole, or a literal model. A step
    follows the one before it in the saga, unless `after` names others. While its undo is refused,
    used up or unknown, the undos behind it wait for a person; `hold=False` lets them go on. `title`
    is for people.

    `optional`: when it fails for good it is skipped, and the run goes on without it; no step may
    refer to its receipt. One that landed is undone like any other. `pivot`: once it has landed the
    run only goes forward; an irreversible step is a pivot by itself.

    `approval`: people must agree to the frozen intent before it is sent.

    `instead`: steps that are tried in its place, one after the other, when it fails for good. They
    have the same receipt model, and whoever refers to its receipt gets that of the one that landed.
    Each has its own effect, arguments and compensation; everything else is as this step says. What
    people declined is not done in another way.

    Raises `DefinitionError`.
    """

    def __new__(cls, *arguments: object, **named: object) -> Step[A, R]:
        # Python's own message would not say what to write. (No arguments: copy and pickle.)
        if arguments and "compensation" not in named:
            raise _no_compensation(arguments[0])
        return super().__new__(cls)

    def __init__(
        self,
        name: str,
        effect: Effect[A, R],
        *,
        args: A,
        compensation: Compensation[A, R] | NothingToUndo | Irreversible,
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        hold: bool = True,
        pivot: bool = False,
        instead: Sequence[Step[Any, R]] = (),
        approval: Approval | None = None,
        optional: bool = False,
    ) -> None:
        self.name = check_name("step", name)
        what = f"step {name!r}"
        if name in _RESERVED:
            raise DefinitionError(
                "bad-name", f"{what}: the name stands for the {name}", remedy="Use another name"
            )
        if not isinstance(effect, Effect):
            raise DefinitionError(
                "bad-step", f"{what}: effect is {effect!r}", remedy="Give an Effect"
            )
        self.title = check_text(f"title of {what}", title)
        self.effect = effect
        self.compensation = compensation
        self.after = _after(after, what)
        self.groups: tuple[Group, ...] = ()  # of the sub-sagas that it is part of, outermost first
        self.hold = bool(hold)
        if approval is not None and not isinstance(approval, Approval):
            raise DefinitionError(
                "bad-approval", f"{what}: approval is {approval!r}", remedy="Give an Approval(…)"
            )
        self.approval = approval
        self.optional, self.pivot = bool(optional), bool(pivot)
        self.args = bound(args, what)
        self.build = compile_binding(self.args.binding)
        _check_models(self)
        if isinstance(instead, Step):
            raise DefinitionError(
                "bad-instead", f"{what}: instead= is one step", remedy="Write instead=[…], a list"
            )
        self.instead = tuple(instead)
        for other in self.instead:
            _check_alternative(self, other)

    @property
    def receipt(self) -> R:
        """A reference to what the effect will have returned, for the arguments of later steps."""
        return cast("R", refer(self, self.name, self.effect.receipt))

    @property
    def choices(self) -> tuple[Step[Any, Any], ...]:
        """The step itself, and what is tried in its place."""
        return (self, *self.instead)

    @property
    def undo(self) -> Compensation[A, R] | None:
        """The compensation, `None` where there is nothing to undo or no way to."""
        return self.compensation if isinstance(self.compensation, Compensation) else None

    def __repr__(self) -> str:
        return f"<Step {self.name}>"


def _no_compensation(name: object) -> DefinitionError:
    return DefinitionError(
        "no-compensation",
        f"step {name!r} does not say how it is taken back",
        remedy='Give compensation= a Compensation, NothingToUndo("reads only") or '
        'Irreversible("mail cannot be unsent")',
    )


def _after(after: Sequence[Any] | None, what: str) -> tuple[Any, ...] | None:
    if after is None:
        return None
    if isinstance(after, Step | Followed):
        raise DefinitionError(
            "bad-step", f"{what}: after= is one step", remedy="Write after=[…], a list of steps"
        )
    for step in after:
        if not isinstance(step, Step | Followed):
            raise DefinitionError(
                "bad-step", f"{what}: after= has {step!r}", remedy="Give the steps themselves"
            )
    return tuple(after)


_OF_THE_WHOLE = ("after", "optional", "pivot", "approval", "instead")


def _check_alternative(step: Step[Any, Any], other: object) -> None:
    what = f"step {step.name!r}: instead= has {other!r}"
    if type(other) is not Step:
        raise DefinitionError("bad-instead", what, remedy="Give a list of Steps")
    if set_there := [name for name in _OF_THE_WHOLE if getattr(other, name)]:
        raise DefinitionError(
            "bad-instead",
            f"{what}, which says {set_there[0]}=",
            remedy=f"Say it of {step.name!r}: its alternatives stand where it stands",
        )
    if other.effect.receipt is not step.effect.receipt:
        raise DefinitionError(
            "models-differ",
            f"{what}, whose receipt is {other.effect.receipt.__qualname__}, not "
            f"{step.effect.receipt.__qualname__}",
            remedy="Give its effect the same receipt model",
        )


def _check_models(step: Step[Any, Any]) -> None:
    effect, compensation = step.effect, step.compensation
    if not issubclass(step.args.model, effect.args):
        raise DefinitionError(
            "models-differ",
            f"step {step.name!r} binds {step.args.model.__qualname__}, {effect.label} takes "
            f"{effect.args.__qualname__}",
            remedy=f"Write args=bind({effect.args.__qualname__})(…)",
        )
    if isinstance(compensation, NothingToUndo | Irreversible):
        return
    if not isinstance(compensation, Compensation):
        raise _no_compensation(step.name)
    for kind, ours, theirs in (
        ("arguments", effect.args, compensation.args),
        ("receipt", effect.receipt, compensation.receipt),
    ):
        if not issubclass(ours, theirs):
            raise DefinitionError(
                "models-differ",
                f"step {step.name!r}: {compensation.label} takes back {kind} "
                f"{theirs.__qualname__}, {effect.label} has {ours.__qualname__}",
                remedy="Give the compensation that belongs to this effect",
            )
