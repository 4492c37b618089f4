"""Whoever looks into the database file with another SQLite library loses us nothing.

Python's own `sqlite3` beside pysqlite3 in one process: POSIX locks cannot keep them apart.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from saga import Client
from saga.journal.sqlite import library
from tests.client.desk import Desk
from tests.databases import files_only

pytestmark = files_only
ROOT = Path(__file__).resolve().parents[2]


def look(desk: Desk, mode: str) -> int:
    uri = f"file:{desk.database}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return int(count)


def seen_elsewhere(desk: Desk) -> list[str]:
    """The runs that another process sees; it opens, writes and closes the file, too."""
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.client.desk import Desk; from tests.databases import FileDatabases\n"
        "desk = Desk(FileDatabases(Path(sys.argv[1]))); desk.start('theirs')\n"
        "print(*[run.id for run in desk.client.runs()])\n"
    )
    command = [sys.executable, "-c", code, str(desk.database.parent)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    return done.stdout.split()


@pytest.mark.skipif(library is sqlite3, reason="there is only one library here")
@pytest.mark.parametrize("mode", ["rw", "ro"])
def test_what_is_started_after_a_look_is_there_for_everybody(desk: Desk, mode: str) -> None:
    desk.start("r1")
    assert look(desk, mode) == 1
    desk.start("r2")
    assert seen_elsewhere(desk) == ["r1", "r2", "theirs"]
    desk.start("r3")
    assert look(desk, mode) == 4
    expected = ["r1", "r2", "r3", "theirs"]
    assert [run.id for run in Client(desk.url).runs()] == expected
    assert [run.id for run in desk.client.runs()] == expected
    desk.idle()
    assert {run.outcome for run in desk.client.runs()} == {"completed"}


def test_the_last_one_to_close_still_tidies_up(desk: Desk) -> None:
    desk.start("r1")
    other = Client(desk.url)
    other.show("r1")
    desk.client.close()
    wal = desk.database.with_name("saga.db-wal")
    assert wal.exists() or not desk.database.with_name("saga.db-shm").exists()
    other.close()
    assert not wal.exists()
