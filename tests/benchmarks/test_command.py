"""The command line of the benchmark, and what stands beside its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import Figure, in_turn, middle, table
from benchmarks.options import SECTIONS, parse
from tests.benchmarks.measuring import bench, figures


def test_help_names_every_section_and_what_it_takes(tmp_path: Path) -> None:
    done = bench(tmp_path, "--help")
    assert done.returncode == 0
    assert all(f"\n  {name}" in done.stdout for name in SECTIONS)
    assert "minutes" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 88


@pytest.mark.parametrize("words", [("dance",), ("--rounds", "0"), ("peers", "--peer", "nobody")])
def test_what_it_does_not_understand_is_usage(words: tuple[str, ...], tmp_path: Path) -> None:
    done = bench(tmp_path, *words)
    assert done.returncode == 2
    assert "usage: dev.py bench" in done.stderr


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = bench(tmp_path / "file", "sqlite")
    assert done.returncode == 1
    assert "--folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_is_every_section_once() -> None:
    assert parse(["all", "sqlite"], ["dbos"]).sections == SECTIONS
    assert parse([], ["dbos"]).sections == ("sqlite",)
    assert parse(["growth", "sqlite", "growth"], []).sections == ("growth", "sqlite")


def test_the_section_sqlite_prints_tables_and_writes_json(tmp_path: Path) -> None:
    done = bench(tmp_path, "sqlite", "--rounds", "1", "--count", "3", "--in-flight", "1")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = [one for one in figures(tmp_path, "sqlite") if "who" in one]
    assert [one["workload"] for one in found] == ["happy"] * 4 + ["compensated"] * 4
    assert {one["commits"] for one in found if one["workload"] == "happy"} == {4.0}
    assert {one["commits"] for one in found if one["workload"] == "compensated"} == {6.0}
    assert all(one["sagas_per_second"] > 0 for one in found)
    records = [one["records"] for one in figures(tmp_path, "sqlite") if "records" in one]
    assert records == [4.0, 6.0]
    assert not list(tmp_path.glob("sqlite-*"))  # its files are gone


def test_ways_take_turns_round_after_round() -> None:
    order: list[str] = []

    def way(name: str) -> int:
        order.append(name)
        return len(order)

    found = in_turn("both", 2, {"a": lambda: way("a"), "b": lambda: way("b")})
    assert order == ["a", "b", "a", "b"]
    assert found == {"a": [1, 3], "b": [2, 4]}


def test_the_middle_is_the_median_of_each_number() -> None:
    rounds = [Figure("saga", "happy", 1, speed, 9.0, 1.0, 2.0, 4.0) for speed in (1.0, 9.0, 3.0)]
    assert middle(rounds) == Figure("saga", "happy", 1, 3.0, 9.0, 1.0, 2.0, 4.0)


def test_a_table_has_words_to_the_left_and_numbers_to_the_right() -> None:
    assert table([("", "n"), ("one", "10"), ("three", "5")]) == "        n\none    10\nthree   5"
