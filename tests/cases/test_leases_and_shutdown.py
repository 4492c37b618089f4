"""Leases, recovery and shutdown: C036, C037, C038, C039, C043.

Times are scaled down with their ratios kept; a lease here is 0.6 to 1 s.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time

import pytest

from tests.cases.strangers import stranger
from tests.cases.waiting import until
from tests.cases.world import World
from tests.databases import files_only

LEASE = 0.6


def test_the_beat_goes_on_while_an_orchestrator_drains(world: World) -> None:
    """C036, procrastinate-org/procrastinate#1585, HangfireIO/Hangfire#2233: it takes 4 leases."""
    world.of(names=["s1"]).start(s1="wait:2.4 land")
    first = world.orchestrator(lease=LEASE, grace=30)
    world.called("s1")
    owner = world.query("SELECT owner FROM runs")
    world.orchestrator(lease=LEASE)
    first.terminate()
    until(lambda: not first.alive or world.query("SELECT owner FROM runs") != owner, "a change")

    assert first.ended() == 0
    assert world.ends().outcome == "completed"
    (call,) = world.ledger.calls("s1")
    assert call["pid"] == first.pid
    assert "taking over" not in world.processes[1].log


@pytest.mark.parametrize("how", ["block", "spin"])
def test_a_plain_function_that_takes_long_does_not_cost_the_lease(world: World, how: str) -> None:
    """C037, agno-agi/agno#9512, PrefectHQ/prefect#21184, repowise-dev/repowise#2120: 4 leases."""
    world.of(names=["s1"], threaded=["s1"]).start(s1=f"{how}:2.4 land")
    worker = world.orchestrator(lease=LEASE)
    world.called("s1")
    world.orchestrator(lease=LEASE)

    run = world.ends()
    assert (run.outcome, run.steps[0].attempts) == ("completed", 1)
    assert [call["pid"] for call in world.ledger.calls("s1")] == [worker.pid]
    assert "lost its lease" not in worker.log


def test_an_async_function_that_blocks_the_loop_costs_the_lease_and_is_found_out(
    world: World,
) -> None:
    """C037, third: the beat rides only while the loop answers, so the other one takes over.

    It asks by key, finds the effect and does not call again; what the first one knows when it wakes
    up counts as evidence only.
    """
    world.of(provider="asked", names=["s1"]).start(s1="land block:3")
    first = world.orchestrator(lease=LEASE)
    world.called("s1")
    second = world.orchestrator(lease=LEASE)

    run = world.ends()
    assert (run.outcome, run.steps[0].attempts) == ("completed", 1)
    assert len(world.ledger.calls("s1")) == 1
    assert world.ledger.lines("ask")[0]["pid"] == second.pid
    assert world.ledger.lines("end") == []  # it is still blocked
    until(lambda: "lost its lease" in first.log, "the first one has woken up")
    assert world.show() == run


def test_recovery_is_not_starved_by_runs_that_it_may_not_touch(world: World) -> None:
    """C038, riverqueue/river#1318, #1125, #350: room for 10, 300 runs of a live owner before 20."""
    world.start("a-first")
    for number in range(300):
        world.start(f"b{number:03}")
    for number in range(20):
        world.start(f"orphan{number:02}")
    with stranger(world, "steady"):
        world.query("UPDATE runs SET owner = 'steady' WHERE run_id < 'orphan'")
        world.query("UPDATE runs SET owner = 'gone' WHERE run_id >= 'orphan'")
        before = world.query("SELECT * FROM runs WHERE owner = 'steady' ORDER BY run_id")
        begun = time.monotonic()
        world.run_until_idle(runs_at_once=10, poll=1.0)
        taken = time.monotonic() - begun
        after = world.query("SELECT * FROM runs WHERE owner = 'steady' ORDER BY run_id")

    assert taken < 5.0
    ended = world.query("SELECT run_id FROM runs WHERE phase = 'ended'")
    assert len(ended) == 20
    assert all(run_id.startswith("orphan") for (run_id,) in ended)
    assert after == before


def test_sigterm_starts_nothing_new_and_the_grace_is_a_total(world: World) -> None:
    """C039, oban-bg/oban#856, rq/rq#507: three calls that do not end, more runs behind them."""
    world.of(provider="both", names=["s1"], timeout=60)
    for number in range(3):
        world.start(f"busy{number}", s1=["wait:60 land", "land"])
    for number in range(10):
        world.start(f"later{number}")
    worker = world.orchestrator(grace=0.5, runs_at_once=3)
    world.called("s1", 3)
    begun = time.time()
    worker.terminate()
    worker.terminate()
    assert worker.ended(within=20) == 0
    assert time.time() < begun + 0.5 + 5.0
    assert [call["at"] for call in world.ledger.calls("s1") if call["at"] > begun + 0.1] == []
    assert {world.show(f"busy{n}").steps[0].state for n in range(3)} == {"unknown"}
    assert world.query("SELECT count(*) FROM runs WHERE owner IS NOT NULL") == [(0,)]
    assert world.query("SELECT state FROM orchestrators") == [("dead",)]
    world.run_until_idle()

    assert {run.outcome for run in world.client.runs()} == {"completed"}
    for number in range(3):
        calls = world.ledger.calls("s1", run_id=f"busy{number}")
        assert len({call["key"] for call in calls}) == 1
        asked = world.ledger.lines("ask", run_id=f"busy{number}")
        assert calls[0]["at"] < asked[0]["at"] < calls[1]["at"]


@files_only
def test_who_lost_a_lease_may_lease_the_same_run_again(world: World) -> None:
    """C043, sierra-research/tau2-bench#455: one orchestrator, cut off from the file for 3 leases.

    Then the same process takes the run again and works on it for 5 leases.
    """
    world.of(names=["s1"]).start(s1=["wait:60 land", f"wait:{5 * LEASE} land"])
    worker = world.orchestrator(lease=LEASE)
    world.called("s1")
    turn = os.open(world.folder / "saga.db-turn", os.O_RDWR)
    fcntl.flock(turn, fcntl.LOCK_EX)
    try:
        until(lambda: world.ledger.lines("end"), "its lease is over, and its call is cut off")
    finally:
        os.close(turn)
    world.called("s1", 2)
    (first,) = world.query("SELECT beat FROM orchestrators WHERE state = 'alive'")
    until(lambda: len(world.ledger.lines("end")) == 2, "the second call has ended")
    (last,) = world.query("SELECT beat FROM orchestrators WHERE state = 'alive'")

    run = world.ends()
    assert (run.outcome, run.steps[0].attempts) == ("completed", 2)
    assert len(world.ledger.calls("s1")) == 2
    assert last[0] >= first[0] + 5
    assert worker.log.count("lost its lease") == 1
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0
