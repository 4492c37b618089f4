"""All shapes to their fix points, then all seeded bugs: `python -m tests.crash.explore [WORD …]`.

Words choose the shapes and bugs whose names contain one of them. Takes an hour and more in all.
"""

from __future__ import annotations

import sys

from tests.crash.explore_bugs import BUGS
from tests.crash.explore_seeded import seeded
from tests.crash.explore_shapes import SHAPES

__all__ = ["main"]


def main(words: list[str]) -> int:
    """Print a report per shape and a line per bug; 1 if a law is broken or a bug is not found."""
    failed = 0
    for name, shape in SHAPES.items():
        if _chosen(name, words):
            report = shape.explore()
            failed += not report.ok
            _say(f"{name}\n{report}\n")
    for name, bug in BUGS.items():
        if _chosen(name, words):
            with seeded(bug.edits) as altered:
                report = altered.BUGS[name].shape.explore(**{"enough": 1, **bug.options})
            laws = sorted({violation.law for violation in report.violations} & bug.laws)
            failed += not laws
            found = f"law {laws[0]}" if laws else "NOT FOUND"
            _say(f"bug: {name}: {found}, after {report.runs} runs")
    _say(f"{failed} failed")
    return 1 if failed else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _chosen(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
