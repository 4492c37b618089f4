"""The section `postgres`: a server of its own, floors beside the product, and many processes."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.measuring import bench, figures


def test_the_section_postgres_prints_tables_and_writes_json(tmp_path: Path) -> None:
    done = bench(tmp_path, "postgres", "--rounds", "1", "--count", "4", "--in-flight", "2")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = figures(tmp_path, "postgres")
    measured = [one for one in found if "who" in one]
    assert [one["workload"] for one in measured] == ["happy"] * 3 + ["compensated"] * 3
    assert all(one["sagas_per_second"] > 0 for one in measured)
    assert [one["records"] for one in found if "records" in one] == [4.0, 6.0]
    assert all(one["wal"] > 0 for one in found if "wal" in one)
    shared = [one for one in found if "processes" in one]
    assert [(one["processes"], one["count"]) for one in shared] == [(1, 4), (2, 8), (4, 16)]
