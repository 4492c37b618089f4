"""All shapes to their fix points, then all seeded bugs: `python -m tests.crash.explore [WORD …]`.

Words choose the shapes and bugs whose names contain one of them; all of them take an hour and more.
`--runs N` stops each shape after so many runs; with `--no-cancel` nobody cancels, and most shapes
come to their fix points within 15,000 runs and two minutes. With `--rival` another orchestrator may
take over at every transaction and call, while the first one sleeps; the shapes with a straggler add
a request that lands late. `--no-bugs` leaves out the seeded bugs. `--write` keeps the counts of the
short exploration as those that the tests expect, `--lint` shows that no seeded bug is seen by ruff
or mypy.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.crash.explore_bug import Bug
from tests.crash.explore_bugs import BUGS
from tests.crash.explore_seeded import seeded
from tests.crash.explore_shapes import SHAPES

__all__ = ["COUNTS", "RUNS", "SHORT", "expected", "main"]

ROOT = Path(__file__).resolve().parents[2]
COUNTS = Path(__file__).with_name("explore_counts.json")
RUNS = 500  # of each shape in the tests
SHORT = [
    "order flow, keys and probes, all goes well",
    "order flow, keys and probes, ship is refused",
    "order flow, keys, charge is refused",
    "order flow, probes, refund is refused",
    "order flow, nothing, reserve is refused",
    "trip, keys and probes, drop of hotel is refused",
    "trip, keys, flight is refused",
    "trip, nothing, all goes well",
    "letters, keys and probes, all goes well",
    "letters, probes, stamp is refused",
    "crowd, nothing, all goes well",
]


def expected() -> dict[str, dict[str, int]]:
    """What the short exploration of each shape covered when the counts were last written."""
    counts: dict[str, dict[str, int]] = json.loads(COUNTS.read_text())
    return counts


def main(arguments: list[str]) -> int:
    """Print a report per shape and a line per bug; 1 if a law is broken or a bug is not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.explore", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--no-cancel", action="store_true")
    parser.add_argument("--rival", action="store_true")
    parser.add_argument("--no-bugs", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--lint", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.write:
        counts = {name: SHAPES[name].explore(runs=RUNS).counts() for name in SHORT}
        COUNTS.write_text(json.dumps(counts, indent=1) + "\n")
        return 0
    bugs = [bug for name, bug in BUGS.items() if _is_chosen(name, chosen.words)]
    if chosen.lint:
        return _lint(bugs)
    failed = 0
    for name, shape in SHAPES.items():
        if _is_chosen(name, chosen.words):
            report = shape.explore(
                runs=chosen.runs, cancel=not chosen.no_cancel, rival=chosen.rival
            )
            failed += not report.ok
            _say(f"{name}\n{report}\n")
    failed += 0 if chosen.no_bugs else sum(not _is_found(bug) for bug in bugs)
    _say(f"{failed} failed")
    return 1 if failed else 0


def _is_found(bug: Bug) -> bool:
    with seeded(bug.edits) as altered:
        report = altered.BUGS[bug.name].shape.explore(**{"enough": 1, **bug.options})
    laws = sorted(report.laws & bug.laws)
    _say(f"bug: {bug.name}: {f'law {laws[0]}' if laws else 'NOT FOUND'}, {report.runs} runs")
    return bool(laws)


def _lint(bugs: list[Bug]) -> int:
    """Whether ruff and mypy let every bug pass, each in a copy of the product."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "saga", copy / "saga")
        shutil.copy(ROOT / "pyproject.toml", copy)
        for bug in bugs:
            files = {copy / f"{edit.module.replace('.', '/')}.py" for edit in bug.edits}
            before = {file: file.read_text() for file in files}
            for edit in bug.edits:
                file = copy / f"{edit.module.replace('.', '/')}.py"
                file.write_text(file.read_text().replace(edit.old, edit.new))
            names = [str(file.relative_to(copy)) for file in sorted(files)]
            for tool in (["ruff", "check", "-q"], ["mypy"]):
                command = [sys.executable, "-m", *tool, *names]
                seen = subprocess.run(command, cwd=copy, capture_output=True, check=False)
                failed += seen.returncode != 0
                if seen.returncode:
                    _say(f"{bug.name}: seen by {tool[0]}\n{seen.stdout.decode()}")
            for file, text in before.items():
                file.write_text(text)
    _say(f"{len(bugs)} bugs, {failed} seen by a tool")
    return 1 if failed else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _is_chosen(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
