"""The figures of docs/reliability.md: `python -m tests.reliability` measures and writes them.

Each row is what one command says at its end. All of them together take more than an hour; words
choose the rows whose command contains one, the others stay as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["PAGE", "ROWS", "written"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"

_BEGIN, _END = "<!-- written by python -m tests.reliability -->", "<!-- end -->"


class Row(NamedTuple):
    """What is measured, the command without `python -m`, and how its output is read."""

    what: str
    command: str
    read: Callable[[str], str]


def _last(pattern: str) -> Callable[[str], str]:
    """The last line that matches."""

    def read(output: str) -> str:
        found = [line for line in output.splitlines() if re.search(pattern, line)]
        return found[-1].strip() if found else "NOT MEASURED"

    return read


def _explored(output: str) -> str:
    runs = [int(number) for number in re.findall(r", (\d+) runs, \d+ points", output)]
    violations = sum(map(int, re.findall(r"(\d+) violations", output)))
    closed = output.count("fix point reached")
    bugs = re.findall(r"^bug: .*: (law \d+|NOT FOUND)", output, re.MULTILINE)
    missed = bugs.count("NOT FOUND")
    found = f"; {len(bugs)} seeded bugs, {missed} not found" if bugs else ""
    return (
        f"{len(runs)} shapes, {closed} to their fix points, {sum(runs):,} orchestrators, "
        f"{violations} violations{found}"
    )


def _hostile(output: str) -> str:
    """Runs, how they ended, and what is wrong."""
    told = re.search(r"\d+ runs in \d+ s", output)
    ends = re.findall(r"^ +(\d+)  (completed|compensated|settled)$", output, re.MULTILINE)
    wrong = re.search(r"^violations\s+(\d+)", output, re.MULTILINE)
    if told is None or wrong is None:
        return "NOT MEASURED"
    how = ", ".join(f"{number} {outcome}" for number, outcome in ends)
    return f"{told[0]}; {how}; {wrong[1]} violations"


ROWS = (
    Row("every way of small sagas", "tests.machine.every_walk", _last("walks,")),
    Row("the decision table", "pytest -q tests/machine/test_table.py", _last("passed|failed")),
    Row("seeded faults of the machine, by layer", "tests.machine.layers", _last("seeded faults")),
    Row("the model of the protocol", "tests.protocol", _last("states,")),
    Row(
        "model and product alongside",
        "pytest -q tests/protocol/test_alongside.py",
        _last("pass|fail"),
    ),
    Row("a hostile provider", "tests.hostile.storm --runs 10000 --seed 1", _hostile),
    Row("every fault of whole sagas", "tests.crash.explore --runs 300", _explored),
    Row(
        "every fault, any number of crashes",
        "tests.crash.explore --no-cancel --no-bugs --runs 4000 nothing,",
        _explored,
    ),
    Row(
        "two orchestrators, one late request",
        "tests.crash.explore --no-cancel --no-bugs --rival --runs 3000 trip,",
        _explored,
    ),
    Row("generated sagas", "tests.crash.generated --examples 60 --runs 200", _last("sagas,")),
)


def written(page: str, rows: dict[str, str]) -> str:
    """The page with these rows measured anew."""
    head, _, rest = page.partition(_BEGIN)
    table, _, tail = rest.partition(_END)
    known = dict(re.findall(r"^\| [^|]+ \| `python -m ([^`]+)` \| (.*) \|$", table, re.MULTILINE))
    known |= rows
    lines = [
        f"| {row.what} | `python -m {row.command}` | {known.get(row.command, 'not measured yet')} |"
        for row in ROWS
    ]
    head_row = "| what | command | what it says |\n|---|---|---|"
    return f"{head}{_BEGIN}\n\n{head_row}\n" + "\n".join(lines) + f"\n\n{_END}{tail}"


def main(words: list[str]) -> int:
    """Measure, and write the page; 1 if a command failed."""
    failed = 0
    for row in ROWS:
        if words and not any(word in row.command for word in words):
            continue
        command = [sys.executable, "-m", *row.command.split()]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        failed += done.returncode != 0
        said = row.read(done.stdout)
        sys.stdout.write(f"{row.command}: {said}\n")
        sys.stdout.flush()
        PAGE.write_text(written(PAGE.read_text("utf-8"), {row.command: said}), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
