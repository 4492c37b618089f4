"""The protocol holds; it holds because of each of its rules; and the model can see.

These are the small configurations. `python -m tests.protocol` searches the whole ones, and its
`--help` is the docstring of `__main__`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType

import pytest

from tests.protocol import bugs, taken_out
from tests.protocol.configurations import HOLD, HOLD_SMALL
from tests.protocol.machine import Machine
from tests.protocol.planted import BUGS
from tests.protocol.rare_paths import never_taken
from tests.protocol.search import Search, search
from tests.protocol.setting import Budget, Setting
from tests.protocol.taken_out import TAKEN_OUT
from tests.protocol.trial import Trial, complaints, run_trial
from tests.protocol.unkept import UNKEPT


@cache
def run_once(trial: Trial) -> Search:
    return run_trial(trial)


def run(trial: Trial) -> Search:
    """Several trials are the same search under different names."""
    return run_once(replace(trial, name="", named=(), why=""))


def check(trial: Trial) -> None:
    complained = complaints(trial, run(trial))
    assert not complained, "\n".join(complained)


def each(trials: Sequence[Trial]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("trial", trials, ids=[trial.name for trial in trials])


@each(HOLD_SMALL)
def test_all_laws_hold(trial: Trial) -> None:
    check(trial)


def test_every_rare_path_is_taken_where_all_laws_hold() -> None:
    labels = {label for trial in HOLD_SMALL for label in run(trial).labels}
    assert never_taken(labels) == []


@each(BUGS)
def test_a_seeded_bug_is_found_by_the_law_that_names_it(trial: Trial) -> None:
    check(trial)


@each(BUGS)
def test_all_laws_hold_without_the_bug(trial: Trial) -> None:
    check(trial.without_mistake())


@each(TAKEN_OUT)
def test_without_the_rule_a_law_breaks(trial: Trial) -> None:
    check(trial)


@each(TAKEN_OUT)
def test_all_laws_hold_with_the_rule(trial: Trial) -> None:
    check(trial.without_mistake())


@each(UNKEPT)
def test_what_the_design_does_not_promise_cannot_be_kept(trial: Trial) -> None:
    assert trial.why
    check(trial)


def mistakes(module: ModuleType) -> set[type[Machine]]:
    return {
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Machine) and one is not Machine
    }


def test_no_mistake_is_planted_and_not_looked_for() -> None:
    assert mistakes(bugs) == {trial.machine for trial in BUGS}
    assert mistakes(taken_out) == {trial.machine for trial in TAKEN_OUT}
    assert len(BUGS) >= 19


def test_a_seeded_bug_is_small() -> None:
    for bug in mistakes(bugs):
        for name, member in vars(bug).items():
            if inspect.isfunction(member):
                lines = inspect.getsource(member).count("\n")
                assert lines <= 5, f"{bug.__name__}.{name} has {lines} lines"


def test_the_small_configurations_are_the_whole_ones_with_less_going_wrong() -> None:
    for whole, small in zip(HOLD, HOLD_SMALL, strict=True):
        assert whole.name == small.name
        assert all(
            more >= less
            for more, less in zip(whole.setting.budget, small.setting.budget, strict=True)
        ), whole.name


def test_a_history_is_a_shortest_one() -> None:
    """One step, whose only way to go wrong is that its undo is never even tried."""
    found = search(Setting(steps=1, budget=Budget(stop=1), stops=("cancel",)), bugs.CancelReleases)
    assert found.broken["law 8: the run ends while a forward action is unknown"] == [
        "P0 claims the run",
        "P0 records intent and sending 1 of step 1",
        "cancel is recorded",
    ]


def test_time_has_no_horizon() -> None:
    """Clocks stand still where no rule looks further: waiting for ever is a state like others."""
    found = search(Setting(budget=Budget(crash=1)), Machine)
    assert found.complete
    assert "a tick passes" in found.labels
    assert found.rests > 0
