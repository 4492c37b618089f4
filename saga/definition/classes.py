"""What the exceptions of a contract mean: the classes that are declared as refused or not sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saga.definition.answers import NotSent, Refused, Unknown
from saga.errors import DefinitionError

__all__ = ["classified"]


def classified(
    refused: Sequence[type[Exception]], not_sent: Sequence[type[Exception]], what: str
) -> tuple[tuple[type[Exception], ...], tuple[type[Exception], ...]]:
    """The declared exceptions, each of which must mean exactly one thing."""
    pair = _exceptions(refused, f"{what}: refused="), _exceptions(not_sent, f"{what}: not_sent=")
    for one in pair[0]:
        for other in pair[1]:
            if issubclass(one, other) or issubclass(other, one):
                raise DefinitionError(
                    "bad-exceptions",
                    f"{what}: {one.__name__} would be refused and {other.__name__} not sent",
                    remedy="Declare each exception, with those derived from it, in one of the two",
                )
    return pair


def _exceptions(kinds: Sequence[Any], what: str) -> tuple[type[Exception], ...]:
    if isinstance(kinds, type):
        raise DefinitionError(
            "bad-exceptions", f"{what} is one class", remedy=f"Write [{kinds.__name__}]"
        )
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise DefinitionError(
                "bad-exceptions", f"{what} has {kind!r}", remedy="Name classes of exceptions"
            )
        if kind in (Exception, TimeoutError) or issubclass(kind, Refused | NotSent | Unknown):
            raise DefinitionError(
                "bad-exceptions",
                f"{what} has {kind.__name__}",
                remedy="Name your own narrow types: what is not declared, and every time-out, is "
                "unknown, and the types of saga already mean what they say",
            )
    return tuple(kinds)
