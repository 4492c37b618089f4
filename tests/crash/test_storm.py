"""A short storm; `python -m tests.crash.storm` is the long one."""

from __future__ import annotations

from pathlib import Path

from tests.crash.storm import storm
from tests.crash.weather import Plan


def test_no_run_is_lost_and_no_effect_is_doubled_in_a_storm(tmp_path: Path) -> None:
    """It is too short to be sure of each window; `test_windows` goes into all of them."""
    plan = Plan(runs=40, kills=20, stops=2, windows=0, seed="short")
    report = storm(plan, tmp_path)
    assert report.faults == (), "\n".join(report.lines())
    assert report.tally.windows.total() > 0
