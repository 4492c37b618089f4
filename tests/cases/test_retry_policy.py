"""Attempts, their times, and runs that kill: C087, C088, C089."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest

from saga import (
    App,
    Call,
    DefinitionError,
    Effect,
    NothingToUndo,
    NotSent,
    Orchestrator,
    Provider,
    Retry,
    Saga,
    Step,
    input_of,
)
from tests.cases import scripted
from tests.cases.processes import Process
from tests.cases.scripted import Plan, Proof
from tests.cases.waiting import until, until_then
from tests.cases.world import World

DELAYS = [0.2, 0.4, 0.8, 1.6]


def _attempt_is_over(world: World, number: int) -> Callable[[], bool]:
    def over() -> bool:
        step = world.show().steps[1]
        return (step.attempts, step.state) == (number, "not_sent")

    return over


def test_attempts_and_their_delays_go_on_over_every_restart(world: World) -> None:
    """C087, dbos-inc/dbos-transact-ts#683, vercel/workflow#3035, dapr/dotnet-sdk#1746,
    dapr/dapr#9139.

    Five attempts in all; killed in every wait between two of them. An attempt that nobody saw the
    end of is unknown here, and is counted apart: it is asked about, not simply tried again.
    """
    retry = {"attempts": 5, "first": DELAYS[0], "factor": 2, "longest": 60, "jitter": 0}
    world.of(retry=retry).start(s2="not_sent")
    for number in range(1, 5):
        worker = world.orchestrator()
        until(_attempt_is_over(world, number), f"attempt {number} is over")
        worker.kill()
    world.orchestrator()

    run = world.ends()
    assert (run.outcome, run.cause, run.cause_step) == ("compensated", "attempts", "s2")
    assert run.cause_error is not None
    assert run.cause_error["text"] == "nobody answered"
    calls = world.ledger.calls("s2")
    assert [call["attempt"] for call in calls] == [1, 2, 3, 4, 5]
    assert len({call["pid"] for call in calls}) >= 3
    gaps = [after["at"] - before["at"] for before, after in pairwise(calls)]
    for gap, delay in zip(gaps, DELAYS, strict=True):
        assert delay - 0.01 <= gap < delay + 5.0
    assert sum(gaps) < sum(DELAYS) + 10


@pytest.mark.parametrize(
    "settings",
    [
        {"attempts": 0},
        {"attempts": -1},
        {"attempts": 10**9},
        {"attempts": 2.5},
        {"first": -1},
        {"first": float("nan")},
        {"longest": float("inf")},
        {"longest": 10**12},
        {"factor": 0},
        {"first": 10, "longest": 1},
        {"jitter": -1},
    ],
)
def test_settings_of_a_retry_are_checked_when_they_are_made(settings: dict[str, Any]) -> None:
    """C087, last."""
    with pytest.raises(DefinitionError):
        Retry(**settings)


def poisonous(folder: str, provider: str, limit: int) -> App:
    """A saga for the run that kills, and one for the healthy runs beside it."""
    retry = {"attempts": limit}
    poison = scripted.app(folder, name="poison", provider=provider, probe=False, retry=retry)
    healthy = scripted.app(folder, name="healthy")
    return App(*poison.sagas, *healthy.sagas, lifespan=healthy.lifespan)


def _dead(worker: Process) -> Callable[[], bool]:
    return lambda: not worker.alive


def _dead_or_with_a_case(world: World, worker: Process) -> Callable[[], bool]:
    return lambda: not worker.alive or bool(world.client.cases())


@pytest.mark.parametrize(
    ("provider", "death", "deaths", "kind"),
    [
        ("neither", "die", 1, "unknown"),
        ("keys", "exit", 3, "crashed"),
        ("keys", "segfault", 3, "crashed"),
        ("keys", "gorge", 3, "crashed"),
    ],
)
def test_a_step_that_kills_its_orchestrator_is_set_aside(
    world: World, provider: str, death: str, deaths: int, kind: str
) -> None:
    """C088, dapr/dapr#9744, run-llama/llama-agents#607, celery/celery#5935.

    Deaths are counted apart from failures: three in a row (`Retry(crashes=3)`), however many
    attempts are left. Where keys are not honoured the first is an unknown and goes to a person.
    """
    world.build = f"{__name__}:poisonous"
    world.of(provider=provider, limit=10)
    poison, healthy = world.app.sagas
    world.client.start(poison, {"acts": {"s1": [death]}}, run_id="poison")
    for number in range(20):
        world.client.start(healthy, {}, run_id=f"healthy{number}")
    died = 0
    while not world.client.cases():
        worker = world.orchestrator()
        until(_dead_or_with_a_case(world, worker), "it dies, or has a case")
        died += not worker.alive
        assert died <= deaths + 1
    for number in range(20):
        assert world.ends(f"healthy{number}").outcome == "completed"

    assert died == deaths
    (case,) = world.client.cases()
    assert (case.run_id, case.kind) == ("poison", kind)
    assert kind == "unknown" or "killed its worker 3 times" in case.text
    assert world.client.show("poison").steps[0].state == "unknown"
    assert len(world.ledger.calls("s1", run_id="poison")) == deaths
    assert len(world.ledger.landed()) == 3 * 20


def test_what_was_out_beside_the_one_that_kills_is_not_set_aside_with_it(world: World) -> None:
    """C088: at each death but the last everything is under way; the last one tells which it was."""
    world.build = f"{__name__}:poisonous"
    world.of(provider="keys", limit=10)
    poison, healthy = world.app.sagas
    for number in range(8):
        slow = {"acts": {"s1": ["wait:0.3 land"]}}
        world.client.start(healthy, slow, run_id=f"healthy{number}")
    world.client.start(poison, {"acts": {"s1": ["wait:0.2 die"]}}, run_id="poison")
    for _ in range(3):
        until(_dead(world.orchestrator()), "it dies")
    world.orchestrator()
    for number in range(8):
        assert world.ends(f"healthy{number}").outcome == "completed"
    (case,) = world.client.cases()
    assert (case.run_id, case.kind) == ("poison", "crashed")
    assert len(world.ledger.calls("s1", run_id="poison")) == 3
    assert len(world.ledger.landed()) == 3 * 8


_AT_LEAST = 30.0
_WISHES: dict[str, tuple[Any, float | None]] = {
    # what is asked for, and the seconds that it means; None: our own wait
    "zero": (0, None),
    "negative": (-1, None),
    "fraction": (2.5, 2.5),
    "minutes": (timedelta(minutes=10), 600.0),
    "nan": (float("nan"), None),
    "infinity": (float("inf"), None),
    "huge": (1e12, None),
    "huge integer": (10**400, None),
    "text": ("soon", None),
    "truth": (None, None),
    "the past": (datetime(2020, 1, 1, tzinfo=UTC), None),
    "no zone": (datetime(2050, 1, 1), None),  # noqa: DTZ001  that is the point
    "another zone": ("in an hour, elsewhere", 3600.0),
}


@pytest.mark.parametrize("name", list(_WISHES))
def test_what_the_other_side_asks_for_is_kept_when_it_makes_sense(world: World, name: str) -> None:
    """C089, urllib3/urllib3#3743, openai/openai-java#853, hashicorp/go-retryablehttp#297,
    TypeWhisper/typewhisper-mac#1284. What arrives by HTTP: tests/http.
    """
    wish, seconds = _WISHES[name]
    if name == "another zone":
        wish = datetime.now(UTC).astimezone(_ZONE) + timedelta(hours=1)

    async def busy(call: Call[Plan]) -> Proof:
        raise NotSent("too busy", retry_after=wish)

    saga = _saga(busy, Retry(attempts=5, first=_AT_LEAST, jitter=0))
    begun = time.time()
    world.client.start(saga, {}, run_id="r1")
    _run_until_it_waits(world, App(saga))
    done = time.time()
    due = world.show().due_at
    assert due is not None
    expected = max(seconds or 0.0, _AT_LEAST)
    assert begun + expected - 0.1 <= due.timestamp() <= done + expected + 0.1
    assert world.show().steps[0].attempts == 1


_ZONE = timezone(timedelta(hours=5, minutes=45))


def _run_until_it_waits(world: World, app: App) -> None:
    """`run_until_idle` would wait for what is due within a minute."""

    async def main() -> None:
        orchestrator = Orchestrator(app, world.url, poll=0.05)
        running = asyncio.create_task(orchestrator.run())
        await until_then(lambda: world.show().steps[0].state == "not_sent", "it waits")
        orchestrator.stop()
        await running

    asyncio.run(main())


def test_a_wish_beyond_the_deadline_ends_the_run_with_that_reason(world: World) -> None:
    """C089, last: no early attempt; the run is over when its deadline is."""

    async def busy(call: Call[Plan]) -> Proof:
        raise NotSent("too busy", retry_after=3600)

    saga = _saga(busy, Retry(attempts=5, first=0.01, jitter=0), deadline=0.4)
    world.client.start(saga, {}, run_id="r1")
    world.run_until_idle(App(saga))
    run = world.show()
    assert (run.outcome, run.cause, run.steps[0].attempts) == ("compensated", "deadline", 1)


def _saga(function: Any, retry: Retry, deadline: float | None = None) -> Saga[Plan]:
    plan = input_of(Plan)
    effect = Effect("busy", function, retry=retry, provider=Provider("busy", key_life=3600))
    step = Step("s1", effect, args=plan, compensation=NothingToUndo("it never happens"))
    return Saga("busy", plan, [step], deadline=deadline)
