"""Whether this machine is the right one: by its decision table, or by the laws on a walk."""

from __future__ import annotations

from tests.machine.table import DECISIONS, rows
from tests.machine.walks import WALKS
from tests.machine.world import LawBroken

__all__ = ["WALKS", "differs_from_the_model", "fault"]


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


def differs_from_the_model() -> bool:
    """Whether the model of the protocol, walked alongside, allows something else."""
    from tests.protocol.alongside import Alongside  # noqa: PLC0415  only this machine's own
    from tests.protocol.test_alongside import SETTINGS  # noqa: PLC0415  as above

    for setting in SETTINGS.values():
        both = Alongside(setting)
        try:
            both.walk(limit=1)
        except (AssertionError, LookupError):
            return True
        if both.differences:
            return True
    return False
