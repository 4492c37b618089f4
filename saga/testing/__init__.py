"""What users test their sagas with: no server, no sleeping, the real machine and the real store.

`run` for unit tests of two lines, `World` for fake providers that misbehave, `check_laws` to
compare a database with what really landed, `explore` to see a saga survive every fault there is.
"""

from saga.testing.explore import explore
from saga.testing.laws import check_laws
from saga.testing.outside import Fate, NoAnswer
from saga.testing.report import Found, Report
from saga.testing.scripted import run
from saga.testing.violation import LAWS, Violation
from saga.testing.world import World

__all__ = [
    "LAWS",
    "Fate",
    "Found",
    "NoAnswer",
    "Report",
    "Violation",
    "World",
    "check_laws",
    "explore",
    "run",
]
