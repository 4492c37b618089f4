"""Where pysqlite3 has no wheel, Python's own sqlite3 does the same work, if more slowly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [
    "tests/journal/test_statements.py",
    "tests/journal/test_commits.py",
    "tests/client/test_client.py",
    "tests/cases/test_order_and_scope.py",
]


def test_everything_works_with_pythons_own_library() -> None:
    plugin = "tests.journal.without_pysqlite3"
    command = [sys.executable, "-m", "pytest", "-q", "-k", "not postgresql", "-p", plugin, *FILES]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]
    look = "from saga.journal.sqlite import library; print(library.__name__)"
    said = subprocess.run(
        [sys.executable, "-c", f"import {plugin}; {look}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout == "sqlite3\n", said.stderr
