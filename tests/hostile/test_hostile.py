"""A short storm against a hostile provider, and the moods by themselves.

The whole of it: `python -m tests.hostile.storm`; bugs that it must find: `tests.hostile.bugs`.
"""

from __future__ import annotations

import pytest

from tests.hostile import moods
from tests.hostile.books import FORGOTTEN
from tests.hostile.judge import UNSEEN
from tests.hostile.storm import Plan, Report, storm

RUNS = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return storm(tmp_path_factory.mktemp("storm"), Plan(RUNS, seed=1))


def test_nothing_ends_wrong_that_could_have_been_seen(report: Report) -> None:
    assert not report.judged.wrong, "\n".join(report.lines())
    assert report.judged.outcomes.total() == RUNS


def test_every_mood_and_every_broken_promise_is_met(report: Report) -> None:
    missing = set(moods.moods_of()) - set(report.judged.met)
    assert not missing, "\n".join(report.lines())


def test_runs_end_in_every_way_and_people_are_asked(report: Report) -> None:
    shown = "\n".join(report.lines())
    assert {"completed", "compensated"} <= set(report.judged.outcomes), shown
    assert report.cases["unknown, closed"] > RUNS / 20, shown
    assert report.seen["absent"], shown
    assert report.seen["renewed"], shown


def test_what_is_excused_is_a_broken_promise(report: Report) -> None:
    traits = {trait.name for trait in moods.TRAITS}
    assert set(UNSEEN) - traits == {FORGOTTEN}
    assert traits - set(UNSEEN) == {"denies what landed for a while"}
    assert {excused.partition(":")[0] for excused in report.judged.excused} <= set(UNSEEN)


def test_a_mood_comes_from_the_seed_whatever_the_database() -> None:
    """A key begins with the id of its database, which is another one each time."""
    seen = {
        moods.acting(7, "r", f"{instance}/r/a/-@1", attempt, undo=False).name
        for instance in ("0f", "1e", "2d")
        for attempt in (1, 1)
    }
    assert len(seen) == 1
    drawn = [moods.acting(seed, "r", "0/r/a/-@1", 1, undo=False).name for seed in range(300)]
    assert len(set(drawn)) > len(moods.ACTING) // 2


def test_promises_are_broken_in_some_runs_only() -> None:
    runs = [f"r{number}" for number in range(1000)]
    broken = [run for run in runs if moods.breaks_promises(1, run)]
    assert 200 < len(broken) < 400
    kept = sorted(set(runs) - set(broken))
    assert not any(moods.trait_of(1, run, f"0/{run}/a/-@1") for run in kept)
    echoes = {mood.name for mood in moods.ECHOES}
    met = {moods.acting(1, run, f"0/{run}/a/-@1", 1, undo=False).name for run in kept}
    assert not met & echoes


def test_under_a_list_it_breaks_down_with_some_items_applied_and_none_answered() -> None:
    """Whatever of a run is sent again, undone, or no list is not part of it."""
    halves = {mood.name for mood in moods.HALVES}
    down = 0
    for number in range(300):
        run = f"r{number}"
        keys = [f"0/{run}/b#{item}/-@1" for item in "ijklm"]
        met = {moods.acting(1, run, key, 1, undo=False).name for key in keys}
        traits = {moods.trait_of(1, run, key) for key in keys}
        others = {moods.acting(1, run, key, 2, undo=False).name for key in keys}
        others |= {moods.acting(1, run, f"{key}/undo@1", 1, undo=True).name for key in keys}
        others.add(moods.acting(1, run, f"0/{run}/b/-@1", 1, undo=False).name)
        assert not others & halves
        if met & halves and "lands too late" not in traits:
            down += 1
            assert len(met) == 1
    assert 80 < down < 160
    applied = [moods.is_applied(1, f"0/r/b#{item}/-@1") for item in range(200)]
    assert 70 < sum(applied) < 130
