"""A few generated sagas, the same each time; more by `python -m tests.crash.generated`."""

from __future__ import annotations

import pytest

from saga.testing import Fate
from tests.crash.generated import PathPlan, StepPlan, explored, main


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_laws_hold_in_generated_sagas(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--examples", "8", "--runs", "40", "--seed", str(number)])
    assert code == 0, capsys.readouterr().out
    told = capsys.readouterr().out.split()
    assert int(told[0]) >= 2, "enough of them are sagas"


def test_what_follows_another_savepoint_may_land_after_the_first_was_undone() -> None:
    """Found by generation: each of the two goes back, and the second began after the first had."""

    def step(*, items: bool, then: Fate) -> StepPlan:
        return StepPlan(
            provider="keys",
            undo="receipt",
            fate=Fate.ACT,
            then=then,
            threaded=False,
            optional=False,
            pivot=False,
            beside=False,
            alternative=False,
            items=items,
            on_unknown="hold_all",
        )

    one = step(items=False, then=Fate.ACT)
    path = PathPlan(steps=(step(items=True, then=Fate.REFUSE),), instead=(one,))
    report = explored((one, path, path), runs=20, rival=False, enough=1)
    assert report is not None
    assert report.ok, report
