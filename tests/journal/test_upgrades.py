"""From one schema to the next: in one transaction, one process at a time, forwards only."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from saga.errors import DatabaseError
from saga.journal.database import Database
from saga.journal.schema import SCRIPTS, check, upgrade
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path, library
from saga.journal.tables import SCHEMA
from saga.journal.verify import verify_database
from tests.databases import FileDatabases
from tests.journal.made import made_by
from tests.journal.world import KEY, opened

Copy = Callable[[str | None], str]


@pytest.fixture
def databases(file_databases: FileDatabases) -> FileDatabases:
    """Of files alone: these tests are about them."""
    return file_databases


KEYS = Keyring.parse(KEY)


# ---- from one revision to the next, which is not there yet: one is made up


NEXT = """
    import os
    import signal
    from alembic import op
    import sqlalchemy as sa

    revision = "0006"
    down_revision = "0005"
    STEPS = 6

    def upgrade():
        for step in range(STEPS):
            if os.environ.get("DIE_AT") == str(step):
                os.kill(os.getpid(), signal.SIGKILL)
            if step == 0:
                op.create_table("added", sa.Column("id", sa.Integer, primary_key=True))
            elif step == 1:
                op.add_column("pauses", sa.Column("more", sa.Text))
            elif step == 2:
                op.create_index("ix_added", "added", ["id"])
            elif step == 3:
                op.execute("INSERT INTO added VALUES (1)")
            elif step == 4:
                with op.batch_alter_table("definitions") as batch:
                    batch.add_column(sa.Column("more", sa.Text))
        if os.environ.get("DIE_AT") == str(STEPS):
            os.kill(os.getpid(), signal.SIGKILL)
        if os.environ.get("DIE_AT") == "error":
            raise RuntimeError("a revision with a mistake")
"""

# Loads its modules once. Each line of input: so many upgrades at once; its answer: how they ended.
UPGRADES = """
    import os
    import sys
    from pathlib import Path
    from saga.journal.schema import upgrade
    from saga.journal.sealing import Keyring

    def work():
        before, after = upgrade(sys.argv[1], Keyring.parse(sys.argv[2]), scripts=Path(sys.argv[3]))
        return 10 if before == after else 0

    for line in sys.stdin:
        count, os.environ["DIE_AT"] = line.strip().split(",")
        children = []
        for _ in range(int(count)):
            child = os.fork()
            if not child:
                os._exit(work())
            children.append(child)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(*sorted(ends), flush=True)
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The revisions and one more."""
    folder = tmp_path / "scripts"
    (folder / "versions").mkdir(parents=True)
    for script in (*SCRIPTS.glob("*.py"), *SCRIPTS.glob("versions/*.py")):
        (folder / script.relative_to(SCRIPTS)).write_text(script.read_text("utf-8"), "utf-8")
    (folder / "versions" / "0006_next.py").write_text(dedent(NEXT))
    return folder


class Upgrades:
    """A process that upgrades when it is told to, in children that may be killed."""

    def __init__(self, url: str, scripts: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", dedent(UPGRADES), url, KEY, str(scripts)],
            env={"PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, count: int = 1, die_at: str = "") -> list[int]:
        """So many at once; their exit codes (0: upgraded, 10: found it done)."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{count},{die_at}\n")
        self.process.stdin.flush()
        return [int(code) for code in self.process.stdout.readline().split()]

    def close(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture
def upgrades(copy: Copy, scripts: Path) -> Iterator[tuple[str, Upgrades]]:
    url = copy(KEY)
    upgrades = Upgrades(url, scripts)
    yield url, upgrades
    upgrades.close()


def state_of(url: str) -> list[tuple[str, ...]]:
    connection = library.connect(str(database_path(url)))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return made_by(connection)
    finally:
        connection.close()


def test_an_upgrade_that_is_killed_leaves_the_old_schema(upgrades: tuple[str, Upgrades]) -> None:
    """Reliability catalogue 21: killed before each statement, after the last one, or by a mistake.

    The version that knows only the old schema goes on with it; nothing is left that would stop the
    next upgrade.
    """
    url, process = upgrades
    before = state_of(url)
    for step in range(7):
        assert process.run(die_at=str(step)) == [-signal.SIGKILL]
        assert state_of(url) == before
        database = opened(url)
        with database.connection() as connection:
            assert verify_database(connection, database.keys) == []
        database.close()
    assert process.run(die_at="error") == [1]
    assert state_of(url) == before
    assert process.run() == [0]
    assert {"added", "ix_added"} <= {name for _, name, _, _ in state_of(url)}


def test_of_several_upgrades_at_once_one_does_it_and_the_others_find_it_done(
    upgrades: tuple[str, Upgrades],
) -> None:
    url, process = upgrades
    assert process.run(8) == [0, *[10] * 7]
    assert {"added", "ix_added"} <= {name for _, name, _, _ in state_of(url)}


def test_an_upgraded_database_is_refused_by_the_version_before(copy: Copy, scripts: Path) -> None:
    url = copy(KEY)
    assert upgrade(url, KEYS, scripts=scripts) == ("0005", "0006")
    assert upgrade(url, KEYS, scripts=scripts) == ("0006", "0006")
    with pytest.raises(DatabaseError, match="'0006', which this version") as refused:
        Database(url, KEYS)
    assert "newer version" in refused.value.remedy
    with pytest.raises(DatabaseError, match="'0006', which this version"):
        upgrade(url, KEYS)
    assert not check(url, KEYS).ok


def test_an_upgrade_of_what_is_current_changes_no_byte(copy: Copy) -> None:
    path = database_path(copy(KEY))
    before = path.read_bytes()
    assert upgrade(f"sqlite:///{path}", KEYS) == (SCHEMA, SCHEMA)
    assert path.read_bytes() == before


def test_an_older_database_names_the_command(copy: Copy) -> None:
    path = database_path(copy(KEY))
    connection = library.connect(str(path), isolation_level=None)
    connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    with pytest.raises(DatabaseError, match=f"needs {SCHEMA}") as refused:
        Database(f"sqlite:///{path}", KEYS)
    assert "saga db upgrade" in refused.value.remedy


def test_upgrade_refuses_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(DatabaseError, match="there is no database in it"):
        upgrade(f"sqlite:///{tmp_path / 'empty.db'}", KEYS)
    with pytest.raises(DatabaseError, match="no database at"):
        upgrade(f"sqlite:///{tmp_path / 'none.db'}", KEYS)
    assert not (tmp_path / "none.db").exists()
