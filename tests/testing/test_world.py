"""The fake outside keeps the promises of its provider, and misbehaves when told to."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from saga import Call, Provider
from saga.testing import Fate, World, check_laws
from tests.testing.trips import ROME, ledger_of, run_trips, trips


def test_what_lands_stands_in_the_ledger_in_landing_order(tmp_path: Path) -> None:
    world = World()
    url = run_trips(tmp_path, world, trips(world))
    assert ledger_of(world) == ["hotel", "flight"]
    assert set(world.ledger[0]) == {"key", "run_id", "step", "of_key", "at"}
    assert check_laws(url, world.ledger) == []


def test_a_refused_step_is_taken_back_and_the_undo_is_in_the_ledger_too(tmp_path: Path) -> None:
    world = World()
    world.meets("flight.book", Fate.REFUSE)
    url = run_trips(tmp_path, world, trips(world))
    assert ledger_of(world) == ["hotel", "undo hotel"]
    assert world.ledger[1]["of_key"] == world.ledger[0]["key"]
    assert check_laws(url, world.ledger) == []


@pytest.mark.parametrize("fate", [Fate.LOSE_REQUEST, Fate.LOSE_REPLY, Fate.LATE, Fate.MISDIRECT])
def test_whatever_becomes_of_a_request_it_lands_once(tmp_path: Path, fate: Fate) -> None:
    world = World()
    world.meets("flight.book", fate)
    url = run_trips(tmp_path, world, trips(world))
    world.outside.settle()
    assert ledger_of(world) == ["hotel", "flight"]
    assert check_laws(url, world.ledger) == []


def test_what_is_not_sent_is_sent_again(tmp_path: Path) -> None:
    world = World()
    world.meets("hotel.book", Fate.NOT_SENT)
    run_trips(tmp_path, world, trips(world))
    assert ledger_of(world) == ["hotel", "flight"]
    assert world.requests == 3


def test_without_keys_every_request_is_an_effect_of_its_own(tmp_path: Path) -> None:
    """The definition promises keys, the provider does not keep them: that is what laws show."""
    world = World()
    world.meets("hotel.book", Fate.LOSE_REPLY)
    url = run_trips(tmp_path, world, trips(world, keys=False, probe=False))
    assert ledger_of(world) == ["hotel", "hotel", "flight"]
    assert {violation.law for violation in check_laws(url, world.ledger)} == {2}


def test_an_effect_is_found_by_its_key_and_not_made_again(tmp_path: Path) -> None:
    world = World()
    world.meets("hotel.book", Fate.LOSE_REPLY)
    run_trips(tmp_path, world, trips(world, provider=Provider("shop")))
    assert ledger_of(world) == ["hotel", "flight"]
    assert (world.requests, world.probes) == (2, 1)


def test_a_fate_for_all_that_comes(tmp_path: Path) -> None:
    world = World()
    world.meets("hotel.book", then=Fate.REFUSE)
    saga = trips(world)
    run_trips(tmp_path, world, saga, "t1")
    run_trips(tmp_path, world, saga, "t2")
    assert world.ledger == []


def test_an_observer_sees_nothing_wrong_with_the_orchestrator(tmp_path: Path) -> None:
    world = World(watch=f"sqlite:///{tmp_path / 'trips.db'}")
    world.meets("flight.book", Fate.LOSE_REPLY, Fate.REFUSE)
    run_trips(tmp_path, world, trips(world))
    assert world.requests > 1
    assert world.violations == []


def test_an_observer_hears_of_a_call_that_was_not_intended(tmp_path: Path) -> None:
    quiet, world = World(), World(watch=f"sqlite:///{tmp_path / 'trips.db'}")
    run_trips(tmp_path, quiet, trips(quiet))
    stray = Call(
        args=ROME,
        key="somewhere/t1/hotel/-@1",
        digest="sha256:0",
        run_id="t1",
        step="hotel",
        attempt=1,
        deadline=datetime.now(UTC),
    )

    async def make_it() -> None:
        await cast(Any, trips(world).step("hotel").effect.do(stray))

    asyncio.run(make_it())
    assert [violation.law for violation in world.violations] == [1]
