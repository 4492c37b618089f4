"""Tombstones that somebody makes up, alters, or puts a run beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from saga.client import Client
from saga.errors import Tampered, UnknownRun
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import load
from saga.journal.sealing import Keyring
from saga.journal.tombstones import tombstone_rows
from saga.journal.verify import verify_database
from tests.databases import Databases
from tests.journal.world import KEY, PURGED, Trip, keyed, opened, trip

Copy = Callable[[str | None], str]
MARKS = ", ".join("?" * 13)


@pytest.fixture
def url(copy: Copy) -> str:
    return copy(KEY)


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = opened(url)
    yield database
    database.close()


def found(database: Database) -> list[str]:
    with database.connection() as connection:
        return [damage.text for damage in verify_database(connection, database.keys)]


def remove(databases: Databases, url: str, run_id: str) -> None:
    for table in ("journal", "actions", "cases", "runs"):
        databases.query(url, f"DELETE FROM {table} WHERE run_id = ?", run_id)


def test_a_tombstone_in_the_place_of_a_run_that_somebody_took_away_is_named(
    databases: Databases, url: str, database: Database
) -> None:
    """It has all that a tombstone has, in its place in the line, but not our key."""
    state = database.read(lambda c: load(c, database.keys, Specs(database.keys), "undone")).state
    ((number, seal),) = databases.query(
        url, "SELECT number, seal FROM tombstones ORDER BY number DESC LIMIT 1"
    )
    now = database.now()
    remove(databases, url, "undone")
    rows = {
        keys: tombstone_rows(keys, database.instance, [state], (number, seal), now)[0]
        for keys in (database.keys, Keyring.parse("k1:" + "A" * 44))
    }
    ours, forged = rows.values()
    assert ours[:6] == forged[:6]
    databases.query(url, f"INSERT INTO tombstones VALUES ({MARKS})", *forged)
    (text,) = found(database)
    assert text.startswith("tombstone 4 of run 'undone': it, or the one before it, was altered")
    with keyed(KEY), pytest.raises(Tampered, match="its tombstone does not verify"):
        Client(url).start(trip, Trip(id="t", mode="fine"), run_id="undone")
    databases.query(url, "DELETE FROM tombstones WHERE number = 4")
    databases.query(url, f"INSERT INTO tombstones VALUES ({MARKS})", *ours)
    assert found(database) == []


def test_a_run_beside_its_own_tombstone_is_named(
    databases: Databases, url: str, database: Database
) -> None:
    """As when some of the tables are put back from a backup."""
    head = databases.query(url, "SELECT * FROM runs WHERE run_id = 'finished'")[0]
    values = [PURGED[0] if value == "finished" else value for value in head]
    marks = ", ".join("?" * len(values))
    databases.query(url, f"INSERT INTO runs VALUES ({marks})", *values)
    assert any(f"of run '{PURGED[0]}': the run is there too" in text for text in found(database))


def test_a_missing_tombstone_is_named_by_the_one_behind_it(
    databases: Databases, url: str, database: Database
) -> None:
    for run_id in PURGED:
        with keyed(KEY), pytest.raises(UnknownRun, match=r"ended .completed at"):
            Client(url).show(run_id)
    databases.query(url, "DELETE FROM tombstones WHERE number = 2")
    (text,) = found(database)
    assert text == f"tombstone 3 of run '{PURGED[2]}': the one before it is missing"
    with keyed(KEY), pytest.raises(Tampered, match="its tombstone does not verify"):
        Client(url).show(PURGED[2])
    with keyed(KEY), pytest.raises(UnknownRun, match=r"ended .completed at"):
        Client(url).show(PURGED[0])


def test_tombstones_are_verified_page_by_page(
    databases: Databases, url: str, database: Database
) -> None:
    state = database.read(lambda c: load(c, database.keys, Specs(database.keys), "undone")).state
    ((number, seal),) = databases.query(
        url, "SELECT number, seal FROM tombstones ORDER BY number DESC LIMIT 1"
    )
    states = []
    for index in range(1100):
        state.run_id = f"copy-{index}"
        states.append(tombstone_rows(database.keys, database.instance, [state], (number, seal), 1))
        number, seal = states[-1][0][0], states[-1][0][-1]
    with databases.connected(url) as connection:
        mark = MARKS if databases.kind == "sqlite" else MARKS.replace("?", "%s")
        insert = f"INSERT INTO tombstones VALUES ({mark})"
        connection.execute("BEGIN")
        for (row,) in states:
            connection.execute(insert, row)
        connection.execute("COMMIT")
    assert found(database) == []
    databases.query(url, "DELETE FROM tombstones WHERE number IN (500, 1050)")
    assert [text[:14] for text in found(database)] == ["tombstone 501 ", "tombstone 1051"]
