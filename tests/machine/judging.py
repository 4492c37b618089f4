"""Whether this machine is the right one: by its decision table, then by the laws on some walks."""

from __future__ import annotations

from collections.abc import Iterable

from tests.machine.table import DECISIONS, rows
from tests.machine.walks import WALKS
from tests.machine.world import LawBroken

__all__ = ["broken_law", "fault"]


def fault(walks: Iterable[str]) -> str | None:
    """`table`, or the law that breaks on one of `walks`; `None` if nothing is found."""
    try:
        if rows() != DECISIONS.read_text(encoding="utf-8").splitlines():
            return "table"
    except AssertionError as broken:
        return f"law {broken.law}" if isinstance(broken, LawBroken) else "table"
    return broken_law(walks)


def broken_law(walks: Iterable[str]) -> str | None:
    """The law that breaks first on `walks`."""
    for name in walks:
        try:
            WALKS[name].run()
        except LawBroken as broken:
            return f"law {broken.law}"
    return None
