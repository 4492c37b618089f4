"""All walks: `python -m tests.machine.every_walk [WORD ...]`; the tests walk some of them.

Takes some ten minutes; `tests.reliability` quotes the counts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.machine.walk import Walk
from tests.machine.walks import WALKS

__all__ = ["counted", "main"]


def counted(walked: Sequence[Walk]) -> tuple[str, int, dict[str, int]]:
    """What walks have covered, in words; how many situations, and how the runs ended."""
    states = sum(walk.states for walk in walked)
    transitions = sum(walk.transitions for walk in walked)
    odd = sum(walk.odd for walk in walked)
    ends: dict[str, int] = {}
    for walk in walked:
        for outcome, count in walk.ends.items():
            ends[outcome] = ends.get(outcome, 0) + count
    told = f"{len(walked)} walks, {states} situations, {transitions} transitions, {odd} oddities"
    return f"{told}; ends: {ends}", states, ends


def main(words: list[str]) -> int:
    """Walk everywhere and print the counts; `LawBroken` if a law does not hold."""
    chosen = [name for name in WALKS if not words or any(word in name for word in words)]
    walked = [WALKS[name].run() for name in chosen]
    sys.stdout.write(f"{counted(walked)[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
