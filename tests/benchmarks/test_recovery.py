"""The section `recovery`: what a lost orchestrator had in flight is taken up, by the laws."""

from __future__ import annotations

from pathlib import Path

from benchmarks.held_up import Ledger
from tests.benchmarks.measuring import bench, figures


def test_the_section_recovery_loses_three_processes_and_no_run(tmp_path: Path) -> None:
    done = bench(tmp_path, "recovery", "--killed", "6", "--lease", "1")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = figures(tmp_path, "recovery")
    assert [one["how"] for one in found] == ["killed", "stopped", "killed, server"]
    for one in found:
        assert (one["completed"], one["resent"], one["violations"]) == (6, 3, 0)
        assert 0 <= one["first"] <= one["taken_up"] <= one["ended"]
    for one in found[1:]:
        assert one["first"] > 0.5  # who may come back has its lease, whoever is on a server too


def test_processes_see_what_the_others_write_to_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    one, other = Ledger(path), Ledger(path)
    assert not other.knows("key")
    path.write_text('{"key": "key", "run_id": "r", "step": "s", "of_key": null}\n')
    assert one.knows("key")
    assert other.knows("key")
    assert [line["run_id"] for line in other.lines] == ["r"]
