"""The section `peers`, without its peers: a test installs nothing."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.options import parse
from benchmarks.peers import contest
from benchmarks.peers.catalogue import OURS, PEERS, peer_names
from benchmarks.peers.venvs import NotInstalledError
from tests.benchmarks.measuring import ROOT

HERE = ROOT / "benchmarks" / "peers"


def test_ours_is_measured_as_the_others_are_in_a_process_of_its_own(tmp_path: Path) -> None:
    words = ["peers", "--rounds", "1", "--count", "3", "--folder", str(tmp_path)]
    report = contest.measure_peers(replace(parse(words, ()), in_flight=(2,)))
    assert not report.failed
    assert [one.who for one in report.figures] == [one.who for one in OURS] * 2
    assert "ours is" in report.text()
    assert all(one.durable in " ".join(report.text().split()) for one in OURS)


def test_a_peer_that_cannot_be_installed_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(peer: str, _: Path) -> Path:
        raise NotInstalledError(f"installing {peer} failed")

    monkeypatch.setattr(contest, "python_of", refused)
    words = ["peers", "--rounds", "1", "--count", "2", "--folder", str(tmp_path)]
    report = contest.measure_peers(parse([*words, "--in-flight", "1"], ["dbos"]))
    assert report.failed
    assert {one.who for one in report.figures} == {"saga"}
    assert "dbos is missing: installing dbos failed" in report.text()


def test_a_peer_that_breaks_down_is_left_out_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours has no peer installed, so its program does not find what it imports."""
    monkeypatch.setattr(contest, "python_of", lambda *_: Path(sys.executable))
    words = ["peers", "--rounds", "1", "--count", "2", "--folder", str(tmp_path)]
    report = contest.measure_peers(parse([*words, "--in-flight", "1"], ["dbos"]))
    assert report.failed
    assert {one.who for one in report.figures} == {"saga"}


@pytest.mark.parametrize("peer", peer_names())
def test_every_version_of_a_peer_is_pinned(peer: str) -> None:
    lines = (HERE / f"{peer}.txt").read_text("utf-8").split()
    assert any(line.startswith(f"{peer}==") for line in lines)
    assert all("==" in line for line in lines)


def test_every_program_is_there_and_says_how_it_is_tuned() -> None:
    for one in (*OURS, *PEERS):
        assert ast.get_docstring(ast.parse((HERE / f"{one.program}.py").read_text("utf-8")))
        assert one.durable
