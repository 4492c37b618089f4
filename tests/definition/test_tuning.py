"""Tuning: the worst provider by default, and bounds on every number."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from saga import IDEMPOTENT, Provider, Retry
from saga.definition.spec import ProviderSpec, RetrySpec
from saga.definition.tuning import UNDECLARED, seconds
from saga.errors import DefinitionError

INF, NAN = float("inf"), float("nan")


def test_the_defaults_are_the_worst_plausible_provider() -> None:
    """The specification has the same defaults, so a stored one reads the same."""
    assert UNDECLARED.spec == ProviderSpec()
    assert Provider("undeclared").spec.key_life is None
    assert Retry().spec == RetrySpec(attempts=5, first=1, factor=2, longest=60, jitter=1)


def test_idempotent_claims_one_thing_only() -> None:
    spec = IDEMPOTENT.spec
    assert spec.honours_keys
    assert (spec.in_flight, spec.visible_after, spec.late_until) == (None, None, None)
    assert not spec.replays_refusals


def test_a_duration_is_a_timedelta_or_seconds() -> None:
    by_seconds = Provider("p", key_life=90, in_flight=0.5)
    by_timedelta = Provider(
        "p", key_life=timedelta(seconds=90), in_flight=timedelta(milliseconds=500)
    )
    assert by_seconds.spec == by_timedelta.spec
    assert Retry(first=0.25, longest=timedelta(minutes=2)).spec.longest == 120


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        0.0,
        INF,
        -INF,
        NAN,
        10**400,
        1e-9,
        timedelta(0),
        timedelta(days=-1),
        timedelta.max,
        True,
        "30",
        None,
        b"1",
    ],
)
def test_a_duration_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        seconds(value, "timeout", longest=86_400)
    assert caught.value.code == "bad-duration"
    assert "timeout" in str(caught.value)
    assert caught.value.remedy


def test_zero_is_a_duration_only_where_it_means_something() -> None:
    assert seconds(0, "jitter", zero=True) == 0
    assert Provider("p", in_flight=0, visible_after=timedelta(0), late_until=0).spec.in_flight == 0
    with pytest.raises(DefinitionError):
        Provider("p", key_life=0)
    with pytest.raises(DefinitionError):
        Provider("p", in_flight=-0.5)


@pytest.mark.parametrize("attempts", [0, -1, 1001, 10**9, INF, NAN, True, 2.5, "3", None])
def test_attempts_out_of_bounds_are_refused(attempts: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        Retry(attempts=attempts)
    assert caught.value.code == "bad-retry"


@pytest.mark.parametrize("factor", [0, 0.5, -2, 101, INF, NAN, True, "2"])
def test_a_factor_out_of_bounds_is_refused(factor: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        Retry(factor=factor)
    assert caught.value.code == "bad-retry"


def test_the_longest_wait_is_not_shorter_than_the_first() -> None:
    with pytest.raises(DefinitionError) as caught:
        Retry(first=10, longest=5)
    assert caught.value.code == "bad-retry"
    assert Retry(first=0, longest=0, jitter=0).spec.longest == 0


@pytest.mark.parametrize(
    "facts",
    [
        {"key_max": 35},
        {"key_max": 256},
        {"key_max": True},
        {"key_max": 40.5},
        {"in_flight": 60, "late_until": 30},
        {"in_flight": 60, "late_until": 0},
    ],
)
def test_provider_facts_that_cannot_be_are_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as caught:
        Provider("p", **facts)
    assert caught.value.code == "bad-provider"


def test_a_provider_has_a_name_like_everything_else() -> None:
    with pytest.raises(DefinitionError) as caught:
        Provider("my shop")
    assert caught.value.code == "bad-name"
