"""Every fault at every place that a short exploration reaches, and bugs that it must find.

The whole of it, to the fix point: `python -m tests.crash.explore`.
"""

from __future__ import annotations

import pytest

from tests.crash.explore_bugs import BUGS
from tests.crash.explore_seeded import seeded
from tests.crash.explore_shapes import SHAPES

SHORT = [
    "order flow, keys and probes, ship is refused",
    "order flow, probes, refund is refused",
    "trip, keys, flight is refused",
    "trip, nothing, all goes well",
]
ASKED_FOR = list(BUGS)[:12]


@pytest.mark.parametrize("name", SHORT)
def test_no_law_is_broken_by_any_fault_that_is_reached(name: str) -> None:
    report = SHAPES[name].explore(runs=150)
    assert report.ok, str(report)
    assert report.runs >= 150
    assert report.points > 20
    assert report.calls > 20


@pytest.mark.parametrize("name", ASKED_FOR)
def test_a_seeded_bug_is_named_by_a_law(name: str) -> None:
    with seeded(BUGS[name].edits) as altered:
        bug = altered.BUGS[name]
        report = bug.shape.explore(**{"enough": 1, "runs": 400, **bug.options})
    assert {violation.law for violation in report.violations} & BUGS[name].laws, str(report)


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_small(name: str) -> None:
    assert sum(edit.size for edit in BUGS[name].edits) <= 5
