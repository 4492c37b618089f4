"""Rows of turns that somebody has altered: damage, until a person lets the run go."""

from __future__ import annotations

from contextlib import closing

import pytest

from saga import Tampered
from saga.journal.sqlite import library
from tests.cases.world import World
from tests.isolation.orders import begin, turns


def alter(world: World, sql: str) -> None:
    """Change a row past everything that the product does."""
    with closing(library.connect(str(world.folder / "saga.db"), timeout=30)) as connection:
        connection.execute(sql)
        connection.commit()


def test_a_row_that_somebody_alters_is_damage(world: World) -> None:
    """One that holds is set aside and keeps the turn, until a person lets it go for good."""
    begin(world, "r1")
    begin(world, "r2")
    alter(world, "UPDATE turns SET since = since - 1 WHERE run_id = 'r1'")
    assert [one.run_id for one in world.client.verify().damages] == ["r1"]
    world.run_until_idle()
    assert not world.ledger.calls()
    (case,) = world.client.cases()
    assert case.kind == "damaged"
    world.client.case(case.id)
    world.client.resolve(case.id, "accept", reason="nothing of it has happened")
    assert turns(world) == {"r2": "waits"}
    world.run_until_idle()
    assert world.show("r2").outcome == "completed"


def test_a_row_that_somebody_takes_away_is_damage_until_a_person_lets_the_run_go(
    world: World,
) -> None:
    begin(world, "r1")
    begin(world, "r2")
    alter(world, "DELETE FROM turns WHERE run_id = 'r1'")
    assert [one.run_id for one in world.client.verify().damages] == ["r1"]
    world.run_until_idle()
    (case,) = world.client.cases()
    assert case.kind == "damaged"
    with pytest.raises(Tampered):
        world.client.cancel("r1", reason="nothing acts on it")
    world.client.case(case.id)
    world.client.resolve(case.id, "accept", reason="nothing of it has happened")
    world.run_until_idle()
    assert world.show("r2").outcome == "completed"


def test_the_database_itself_refuses_a_second_one(world: World) -> None:
    begin(world, "r1")
    begin(world, "r2")
    with pytest.raises(Exception, match="UNIQUE"):
        alter(world, "UPDATE turns SET state = 'holds' WHERE run_id = 'r2'")
    world.run_until_idle()
