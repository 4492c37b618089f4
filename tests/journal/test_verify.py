"""Verifying a database of any size, while others go on writing to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from saga.client import Client
from saga.errors import UnknownRun
from saga.journal import sqlite
from saga.journal.backend import driver
from saga.journal.definitions import Specs
from saga.journal.sqlite import database_path, library
from saga.journal.verify import patrol, verify_database, verify_file, verify_run
from tests.databases import files_only
from tests.journal.changes import Change
from tests.journal.served import LATER, alter
from tests.journal.world import BYSTANDER, KEY, Outside, opened, serve, trip
from tests.moved_clock import MovedClock

Copy = Callable[[str | None], str]


def test_many_runs_are_read_in_batches_and_writers_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a TRUNCATE file a reader keeps writers out: so no transaction spans two batches."""
    monkeypatch.setattr(sqlite, "safe_wal", lambda version: False)
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    url = f"sqlite:///{tmp_path / 'a.db'}"
    client = Client(url)
    for number in range(220):
        client.start(trip, {"id": f"{number}", "mode": "fine"}, run_id=f"r{number:03}")
    database = opened(url, None)
    seen: list[int] = []

    def progress(done: int, total: int) -> None:
        assert total >= 220
        seen.append(done)
        client.start(trip, {"id": "n", "mode": "fine"}, run_id=f"n{len(seen)}")

    with database.connection() as connection:
        mode = driver(connection).execute("PRAGMA journal_mode").fetchone()
        assert mode == ("truncate",)
        assert verify_database(connection, database.keys, progress) == []
    assert len(seen) >= 3
    assert seen[-1] >= 220
    database.close()
    client.close()


def test_a_run_that_is_not_there_is_unknown(copy: Copy) -> None:
    database = opened(copy(KEY))
    with database.connection() as connection:
        for run_id in ("nobody", "\udcff", ""):
            with pytest.raises(UnknownRun):
                verify_run(connection, database.keys, run_id)
    database.close()


@files_only
def test_a_lost_entry_of_an_index_is_damage_of_the_file(copy: Copy) -> None:
    """Every value verifies, and yet nobody would ever claim this run."""
    url = copy(KEY)
    connection = library.connect(str(database_path(url)), isolation_level=None)
    sql = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'ix_runs_claim'"
    ).fetchone()
    connection.execute("PRAGMA writable_schema=ON")
    narrower = sql[0] + " AND run_id <> 'running'"
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'ix_runs_claim'", (narrower,))
    connection.execute("PRAGMA writable_schema=RESET")
    connection.execute("REINDEX ix_runs_claim")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'ix_runs_claim'", sql)
    connection.execute("PRAGMA writable_schema=RESET")
    connection.close()
    database = opened(url)
    with database.connection() as read:
        assert verify_database(read, database.keys) == []
        damages = verify_file(read)
    assert any("ix_runs_claim" in damage.text for damage in damages)
    database.close()


def test_a_whole_file_has_no_damage(copy: Copy) -> None:
    database = opened(copy(KEY))
    with database.connection() as connection:
        assert verify_file(connection) == []
    database.close()


def test_an_owner_that_nobody_is_keeps_no_run_from_those_who_are_there(copy: Copy) -> None:
    """No record vouches for an owner: a made-up one must not be a way to stop a run."""
    url, outside = copy(None), Outside()
    outside.generous = True
    made_up = Change("", "", (("UPDATE runs SET owner = 'nobody'", ()),), (), ())
    assert alter(url, made_up)
    serve(url, outside, MovedClock(LATER))
    assert {run_id for run_id, _, _ in outside.calls} == {"running", BYSTANDER}


def test_a_patrol_ends_and_begins_anew_and_repeats_no_case(copy: Copy) -> None:
    url = copy(KEY)
    hidden = "UPDATE runs SET due_at = NULL WHERE run_id IN ('running', 'finished')"
    moved = "UPDATE actions SET attempts = 9 WHERE run_id = 'finished'"
    assert alter(url, Change("", "", ((hidden, ()), (moved, ())), (), ()))
    database = opened(url)
    for _ in range(3):
        after: str | None = None
        rounds = 0
        while rounds == 0 or after is not None:
            rounds += 1
            after = database.write(
                lambda c, after=after: patrol(  # type: ignore[misc]
                    c, database.keys, Specs(database.keys), after=after, limit=4, now=1.0
                )
            )
        assert rounds == 2
    select = "SELECT case_id, state FROM cases WHERE kind = 'damaged' ORDER BY case_id"
    rows = database.read(lambda c: [tuple(row) for row in c.exec_driver_sql(select)])
    assert rows == [("finished/damaged", "open"), ("running/damaged", "open")]
    database.close()
