"""What a function of an effect is given: one argument, the call.

Neither prints its arguments, receipt or resources: a call lands in error texts and logs, and those
hold no secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import BaseModel

from saga.errors import DefinitionError

__all__ = ["Call", "Undo"]

A_co = TypeVar("A_co", bound=BaseModel, covariant=True)
R_co = TypeVar("R_co", bound="BaseModel | None", covariant=True)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[A_co]):
    """One attempt at an intent.

    `args` are the frozen arguments, `key` the idempotency key to hand to the provider (the same for
    every attempt), `digest` the `sha256:…` of the intent, `run_id` and `step` where it belongs and
    `item` which one of an `Each`, `attempt` its number from 1 on, `deadline` the aware time at
    which the call is cut off.
    """

    args: A_co = field(repr=False)
    key: str
    digest: str
    run_id: str
    step: str
    attempt: int
    deadline: datetime
    item: str | None = None
    resources: Sequence[object] = field(default=(), repr=False)

    def resource(self, kind: type[T]) -> T:
        """The resource of this type that the app's lifespan has opened.

        An object of exactly this type wins over one of a subclass. Raises `DefinitionError` where
        there is none, or more than one to choose from.
        """
        found = [one for one in self.resources if type(one) is kind]
        found = found or [one for one in self.resources if isinstance(one, kind)]
        if len(found) == 1:
            return found[0]
        there = ", ".join(type(one).__qualname__ for one in self.resources) or "nothing"
        if not found:
            raise DefinitionError(
                "no-resource",
                f"step {self.step!r} needs a {kind.__qualname__}, the lifespan yielded {there}",
                remedy=f"Yield a {kind.__qualname__} from the lifespan of the App",
            )
        raise DefinitionError(
            "ambiguous-resource",
            f"step {self.step!r} needs one {kind.__qualname__}, the lifespan yielded {there}",
            remedy="Give each its own type, so that no call goes to the wrong one",
        )


@dataclass(frozen=True, kw_only=True)
class Undo(Call[A_co], Generic[A_co, R_co]):
    """One attempt at taking an action back.

    `args` and `receipt` are those of the action to reverse and `of_key` is its key; `key`, `digest`
    and `attempt` are the undo's own. With `Undo[A, R]` the function is called only with a receipt,
    with `Undo[A, R | None]` also where nobody could find one.
    """

    receipt: R_co = field(repr=False)
    of_key: str
