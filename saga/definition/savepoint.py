"""A savepoint: where a part of a saga is undone and done another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saga.definition.names import check_name
from saga.definition.step import Followed, Step
from saga.errors import DefinitionError

__all__ = ["Savepoint"]


class Savepoint(Followed):
    """Two ways to go on: `steps`, and `instead` of them when one of those fails for good.

    What has landed of `steps` is undone first, back to here; what came before stays. When a step of
    `instead` fails too, the savepoint around this one has its turn, or the whole run is undone.
    Where a pivot among `steps` has landed there is no way back to the savepoint. Both are lists of
    steps, sub-sagas and savepoints; what comes after this one follows the last of the path that was
    taken, and may refer to no receipt of either. `after` is as in `Step`.

    Raises `DefinitionError`.
    """

    def __init__(
        self,
        name: str,
        *,
        steps: Sequence[Step[Any, Any] | Followed],
        instead: Sequence[Step[Any, Any] | Followed],
        after: Sequence[Step[Any, Any] | Followed] | None = None,
    ) -> None:
        self.name = check_name("savepoint", name)
        self.after = None if after is None else tuple(after)
        self.steps, self.instead = tuple(steps), tuple(instead)
        for path in (self.steps, self.instead):
            if not path or not all(isinstance(one, Step | Followed) for one in path):
                raise DefinitionError(
                    "bad-savepoint",
                    f"savepoint {name!r} has a path without steps",
                    remedy="Give steps= and instead= lists of Steps",
                )
        self.last = (*_ends(self.steps), *_ends(self.instead))

    def __repr__(self) -> str:
        return f"<Savepoint {self.name}>"


def _ends(entries: Sequence[Step[Any, Any] | Followed]) -> tuple[Step[Any, Any], ...]:
    """The steps of a row of entries that no other entry of it follows."""
    followed: set[int] = set()
    for index, entry in enumerate(entries):
        before = entries[max(index - 1, 0) : index] if entry.after is None else entry.after
        followed |= {id(one) for one in before}
    loose = [entry for entry in entries if id(entry) not in followed]
    return tuple(
        step
        for entry in loose
        for step in (entry.last if isinstance(entry, Followed) else (entry,))
    )
