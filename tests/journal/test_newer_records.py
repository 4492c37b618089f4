"""Records of a newer version, and a database that was moved."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from saga.client import Client
from saga.errors import NotAllowed
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.formats import FORMAT
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path
from saga.journal.verify import verify_database
from tests.databases import files_only
from tests.journal.forging import forge
from tests.journal.served import LATER, alter
from tests.journal.tamper import Bench
from tests.journal.world import BYSTANDER, KEY, Outside, keyed, opened, serve
from tests.moved_clock import MovedClock

Copy = Callable[[str | None], str]


# ---- newer, and left alone


@pytest.fixture
def newer(copy: Copy) -> Iterator[str]:
    """The last record of `running` was written by a newer version; its seal holds."""
    url = copy(KEY)
    database = opened(url)
    bench = Bench(database)

    def last(seq: int, body: str) -> str:
        if seq < count:
            return body
        return body.replace(f'"format":{FORMAT}', f'"format":{FORMAT + 1},"more":1').replace(
            '"writer":"', '"writer":"9'
        )

    select = "SELECT count(*) FROM journal WHERE run_id = 'running'"
    count = bench.cursor.execute(select).fetchone()[0]
    change = forge(bench.cursor, database.keys, "running", last)
    bench.close()
    database.close()
    assert alter(url, change)
    with keyed(KEY):
        yield url


def test_a_record_of_a_newer_version_is_no_damage_and_nobody_acts_on_it(newer: str) -> None:
    """C107: a clear 'newer', not 'tampered'; and no call, no case, no mark."""
    outside, clock = Outside(), MovedClock(LATER)
    serve(newer, outside, clock)
    assert outside.calls == [(BYSTANDER, "only", "forward")]
    database = opened(newer)
    with database.connection() as connection:
        assert verify_database(connection, database.keys) == []
        head = driver(connection).execute(
            "SELECT owner, quarantined_at FROM runs WHERE run_id = 'running'"
        )
        assert head.fetchone() == (None, None)
    database.close()
    client = Client(newer, clock=clock)
    assert [case.kind for case in client.cases()] == ["undo_refused"]
    with pytest.raises(NotAllowed, match="newer version"):
        client.cancel("running", reason="now", actor="eve")
    client.close()


def test_a_newer_record_whose_seal_does_not_hold_is_damage(newer: str) -> None:
    """C107: a field added without the key is not 'newer'."""
    database = opened(newer)
    with database.connection() as connection:
        driver(connection).execute(
            """UPDATE journal SET body = replace(body, '"more":1', '"more":2')"""
        )
        (damage,) = verify_database(connection, database.keys)
    assert damage.run_id == "running"
    database.close()


# ---- moved


@files_only
def test_what_was_moved_by_sql_still_verifies(copy: Copy, tmp_path: Path) -> None:
    """C106: a dump, read into another file by another library, in another journal mode."""
    source, target = database_path(copy(KEY)), tmp_path / "moved.db"
    dump = sqlite3.connect(source)
    load = sqlite3.connect(target)
    load.executescript("\n".join(dump.iterdump()))
    dump.close()
    load.close()
    database = Database(f"sqlite:///{target}", Keyring.parse(KEY))
    with database.connection() as connection:
        assert verify_database(connection, database.keys) == []
    database.close()
