"""Every fault at every place that a short exploration reaches, and bugs that it must find.

The whole of it, to the fix points: `python -m tests.crash.explore`.
"""

from __future__ import annotations

import importlib

import pytest

from tests.crash.explore import RUNS, SHORT, expected
from tests.crash.explore_bugs import BUGS
from tests.crash.explore_seeded import seeded
from tests.crash.explore_shapes import SHAPES


@pytest.mark.parametrize("name", SHORT)
def test_no_law_is_broken_by_any_fault_that_is_reached(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The counts are the same each time. Where they fall, something is no longer reached: a call
    or a transaction goes past its seam. A tenth is left to changes of the product; `--write` of
    the command keeps new ones.
    """
    report = SHAPES[name].explore(runs=RUNS)
    with capsys.disabled():
        print(f"\n{name}: {str(report).splitlines()[0].partition(': ')[2]}")  # noqa: T201
    assert report.ok, str(report)
    assert report.runs >= RUNS
    for what, before in expected()[name].items():
        assert report.counts()[what] >= 0.9 * before, f"{what}: {report.counts()}, not {before}"


def test_every_flow_is_explored_in_every_shape() -> None:
    """Success, a refusal at each step, a refused undo, a straggler, with and without probes and
    keys.
    """
    assert len(SHAPES) == 4 * (7 + 5 + 4 + 2 + 2 + 4 + 2 + 6 * 2 + 3)
    assert set(expected()) == set(SHORT) <= set(SHAPES)


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_passes_the_happy_path_and_is_named_by_a_law(name: str) -> None:
    with seeded(BUGS[name].edits) as altered:
        bug = altered.BUGS[name]
        saga, _, given = altered.WELL.flow(altered.WELL.provider, probes=altered.WELL.probes)
        happy = importlib.import_module("saga.testing").run(saga, given)
        report = bug.shape.explore(**{"enough": 1, "runs": RUNS, **bug.options})
    assert happy.outcome == "completed"
    assert report.laws & BUGS[name].laws, str(report)


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_small(name: str) -> None:
    assert sum(edit.size for edit in BUGS[name].edits) <= 5


def test_there_are_enough_bugs() -> None:
    assert len(BUGS) >= 12 + 12
