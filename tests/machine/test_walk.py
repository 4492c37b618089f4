"""The real machine in every situation that small sagas can come into, against a true outside."""

from __future__ import annotations

import sys

import pytest

from tests.machine.walk import Walk
from tests.machine.walks import WALKS

walked: list[Walk] = []


@pytest.mark.parametrize("name", WALKS)
def test_the_laws_hold_wherever_a_saga_can_go(name: str) -> None:
    walked.append(WALKS[name].run())


def test_the_walks_have_been_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A fall of these counts means that situations are not reached any more."""
    if len(walked) < len(WALKS):
        pytest.skip("only some were walked")
    states = sum(walk.states for walk in walked)
    transitions = sum(walk.transitions for walk in walked)
    odd = sum(walk.odd for walk in walked)
    ends: dict[str, int] = {}
    for walk in walked:
        for outcome, count in walk.ends.items():
            ends[outcome] = ends.get(outcome, 0) + count
    told = f"{len(walked)} walks, {states} situations, {transitions} transitions, {odd} oddities"
    with capsys.disabled():
        sys.stdout.write(f"\n{told}; ends: {ends}\n")
    assert states >= 100_000
    assert transitions >= 100_000
    assert min(ends.values()) >= 500
