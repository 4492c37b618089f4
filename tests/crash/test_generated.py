"""A few generated sagas, the same each time; more by `python -m tests.crash.generated`."""

from __future__ import annotations

import pytest

from tests.crash.generated import main


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_laws_hold_in_generated_sagas(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--examples", "8", "--runs", "40", "--seed", str(number)])
    assert code == 0, capsys.readouterr().out
    told = capsys.readouterr().out.split()
    assert int(told[0]) >= 2, "enough of them are sagas"
