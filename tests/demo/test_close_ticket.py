"""The example is played as its README says, and its tool's store is the judge."""

from __future__ import annotations

import subprocess
import sys

from tests.demo.conftest import ROOT


def test_the_ticket_is_closed_exactly_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.close_ticket"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line[:2] for line in lines[:7]] == [f"{number}." for number in range(1, 8)]
    assert "key and digest are equal: True" in done.stdout
    assert "lost probe" in done.stdout  # asked, and not sent again
    assert lines[-1] == "closed exactly once"
