"""Whether this machine is the right one: by its decision table, or by the laws on a walk."""

from __future__ import annotations

from tests.machine.table import DECISIONS, rows
from tests.machine.walks import WALKS
from tests.machine.world import LawBroken

__all__ = ["fault"]


def fault(walk: str) -> str | None:
    """The law that breaks on `walk`; `table`, if no walk is given and that differs; or `None`."""
    if walk:
        try:
            WALKS[walk].run()
        except LawBroken as broken:
            return f"law {broken.law}"
        return None
    try:
        same = rows() == DECISIONS.read_text(encoding="utf-8").splitlines()
    except AssertionError:  # one name has two answers, or a law breaks on the way
        same = False
    return None if same else "table"
