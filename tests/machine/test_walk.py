"""The real machine in every situation that small sagas can come into, against a true outside."""

from __future__ import annotations

import sys

import pytest

from tests.machine.every_walk import counted
from tests.machine.walk import Walk
from tests.machine.walks import SHORT, WALKS

walked: list[Walk] = []


@pytest.mark.parametrize("name", SHORT)
def test_the_laws_hold_wherever_a_saga_can_go(name: str) -> None:
    walked.append(WALKS[name].run())


def test_the_walks_have_been_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A fall of these counts means that situations are not reached any more."""
    if len(walked) < len(SHORT):
        pytest.skip("only some were walked")
    told, states, ends = counted(walked)
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")
    assert states >= 700_000
    assert min(ends.values()) >= 1000
