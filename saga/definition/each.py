"""An each: one effect for every item of a list, each with an intent and a key of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar, get_args

from pydantic import BaseModel

from saga.definition.bindings import Bound
from saga.definition.contracts import Compensation, Effect, Irreversible, NothingToUndo
from saga.definition.references import ReferenceParts, item_of, parts_of
from saga.definition.spec import OnUnknown
from saga.definition.step import Followed, Step
from saga.errors import DefinitionError

__all__ = ["PARALLEL_MAX", "Each"]

A = TypeVar("A", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)

PARALLEL_MAX = 1000


class Each(Step[A, R]):
    """A step that does its effect once for each item of a list.

    `over` is a list of the input or of a receipt, `item_of(over)` one item of it, for `args` and
    `key`. Each item has its own key, intent, receipt, compensation and case. `key` names it: a
    field that is a text or a whole number and differs from item to item (an id, not an address:
    it is shown); left out, its position does. At most 10,000 items.

    `parallel` items are under way at once. `batch`: so many are done before the next so many begin.
    `on_unknown` says what an item holds back while nobody knows whether it happened: `hold_all`
    (nothing more is sent), `hold_target` (nothing about the same target), `hold_item` (itself).

    `optional`: an item that fails for good is skipped and the others go on; otherwise the run is
    undone, item by item. An irreversible `Each` is a pivot from its first item on, one with
    `pivot=True` once all have landed. There is no single receipt: `receipt` is refused. The rest is
    as in `Step`. Raises `DefinitionError`.
    """

    def __init__(
        self,
        name: str,
        effect: Effect[A, R],
        *,
        over: Sequence[Any],
        args: A,
        compensation: Compensation[A, R] | NothingToUndo | Irreversible,
        key: object = None,
        parallel: int = 10,
        batch: int | None = None,
        on_unknown: OnUnknown = "hold_all",
        after: Sequence[Step[Any, Any] | Followed] | None = None,
        title: str = "",
        hold: bool = True,
        pivot: bool = False,
        optional: bool = False,
    ) -> None:
        super().__init__(
            name,
            effect,
            args=args,
            compensation=compensation,
            after=after,
            title=title,
            hold=hold,
            pivot=pivot,
            optional=optional,
        )
        what = f"each {name!r}"
        item_of(over)  # it is a list
        listed = parts_of(over)
        assert listed is not None
        self.over = listed
        self.args = Bound(self.args.model, self.args.binding, (*self.args.references, listed))
        self.key = None if key is None else self._key(key, what)
        self.parallel = _count(what, "parallel", parallel, PARALLEL_MAX)
        self.batch = None if batch is None else _count(what, "batch", batch, None)
        self.on_unknown = _on_unknown(what, on_unknown, effect)

    @property
    def receipt(self) -> NoReturn:
        """There is one an item, and none of the whole."""
        raise DefinitionError(
            "no-receipt",
            f"each {self.name!r} has a receipt for every item, and none of its own",
            remedy="Do without it, or read what is needed in a step of its own",
        )

    def each_spec(self) -> dict[str, Any]:
        """What it goes over and how, in the specification."""
        return {
            "over": list(self.over.path),
            "key": None if self.key is None else list(self.key),
            "on_unknown": self.on_unknown,
            "parallel": self.parallel,
            "batch": self.batch,
        }

    def _key(self, key: object, what: str) -> tuple[str, ...]:
        """The path of the key within an item."""
        parts: ReferenceParts | None = parts_of(key)
        if parts is None or parts.path[0] != "item" or parts.origin != self.over.path:
            raise DefinitionError(
                "bad-each",
                f"{what}: key is not of an item of {self.over.place}",
                remedy="Write key=item_of(…).id, with the list that is gone over",
            )
        return parts.path[1:]


def _on_unknown(what: str, given: OnUnknown, effect: Effect[Any, Any]) -> OnUnknown:
    if given not in get_args(OnUnknown):
        raise DefinitionError(
            "bad-each",
            f"{what}: on_unknown is {given!r}",
            remedy=f"Give one of {', '.join(get_args(OnUnknown))}",
        )
    if given == "hold_target" and not effect.target:
        raise DefinitionError(
            "bad-each",
            f"{what} holds by target, and {effect.label} has none",
            remedy="Give the Effect a target=[…], or hold_all or hold_item",
        )
    return given


def _count(what: str, name: str, number: object, most: int | None) -> int:
    if type(number) is int and number >= 1 and (most is None or number <= most):
        return number
    limit = "from 1 on" if most is None else f"from 1 to {most}"
    raise DefinitionError(
        "bad-each", f"{what}: {name} is {number!r}", remedy=f"Give a whole number {limit}"
    )
