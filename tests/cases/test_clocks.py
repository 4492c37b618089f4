"""Clocks that disagree: C044."""

from __future__ import annotations

import time

from tests.cases.skewed import skewed
from tests.cases.waiting import until
from tests.cases.world import World

LEASE = 1.2


def test_a_lease_is_judged_by_the_seconds_that_pass_and_by_no_wall_clock(world: World) -> None:
    """C044, Krzysztof318/MailFathom#1989, johanhaleby/occurrent#659, #662: +10 and -10 minutes.

    One is stopped in a step (not killed: on SQLite a killed one is known to be gone at once); the
    other takes over a lease later, not at once and not after 20 minutes. Due times go by the clock
    of a database server; SQLite has no other clock than that of its one machine.
    """
    wrong = {"names": ["s1"], "provider": "asked", "timeout": 0.5}
    folder = str(world.of(**wrong).folder)
    world.start(s1="land wait:0.4 drop")
    first = world.process(skewed, world.url, folder, 600.0, wrong, {"lease": LEASE})
    world.called("s1")
    second = world.process(skewed, world.url, folder, -600.0, wrong, {"lease": LEASE})
    until(lambda: len(_beats(world)) == 2, "both are alive")
    seen = _beats(world)
    watched = time.monotonic() + 3 * LEASE
    while time.monotonic() < watched:  # a live lease is never taken, however old its beat looks
        assert world.query("SELECT count(*) FROM orchestrators WHERE state <> 'alive'") == [(0,)]
        time.sleep(0.05)
    assert all(now > then for now, then in zip(_beats(world), seen, strict=True))
    world.stop(first)
    stopped = time.monotonic()
    until(lambda: _state(world, first.pid) == "dead", "it counts as dead")
    waited = time.monotonic() - stopped

    if world.databases.kind == "sqlite":
        world.broken = {1}  # by the ledger's clock the record of the intent is from the future
    assert 0.6 * LEASE < waited < 10 * LEASE
    assert _state(world, second.pid) == "alive"
    assert len(world.ledger.calls("s1")) == 1
    assert "has not beaten for its lease" in second.log


def _beats(world: World) -> list[int]:
    return [beat for (beat,) in world.query("SELECT beat FROM orchestrators ORDER BY pid")]


def _state(world: World, pid: int) -> str:
    rows = world.query("SELECT state FROM orchestrators WHERE pid = ? ORDER BY beat_at", pid)
    return str(rows[-1][0])  # under its newest id, if the machine has kept it from beating
