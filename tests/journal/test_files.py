"""The file: what is said about one that cannot be used. Its mode: test_file_modes."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from saga.client import Client
from saga.errors import DatabaseError
from saga.journal import sqlite
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path, library
from tests.databases import FileDatabases
from tests.journal.older_library import Older
from tests.journal.world import KEY, RUNS, Outside, opened, serve, trip
from tests.moved_clock import MovedClock

Copy = Callable[[str | None], str]


@pytest.fixture
def databases(file_databases: FileDatabases) -> FileDatabases:
    """All of this is about files."""
    return file_databases


# ---- what cannot be used


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    for create in (False, True):
        with pytest.raises(DatabaseError, match="is a folder, not a database file"):
            Database(f"sqlite:///{tmp_path}", Keyring(), create=create)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=f"no folder {tmp_path / 'none'}"):
        Database(f"sqlite:///{tmp_path}/none/a.db", Keyring(), create=True)


def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("a diary, not a database\n" * 100)
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(DatabaseError, match="file is not a database"):
            Database(f"sqlite:///{path}", Keyring(), create=create)
    assert path.read_bytes() == before


def test_no_tables_are_added_to_a_database_of_another_application(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = library.connect(str(path))
    other.execute("CREATE TABLE addresses (name TEXT)")
    other.close()
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(DatabaseError, match="tables of something else"):
            Database(f"sqlite:///{path}", Keyring(), create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host/db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "mysql:///a",
        "saga.db",
        "",
    ],
)
def test_another_kind_of_url_is_refused_without_repeating_it(url: str) -> None:
    """Reliability, bad input 46: a password may be in it."""
    with pytest.raises(DatabaseError, match="is neither sqlite:///PATH") as refused:
        database_path(url)
    assert "secret" not in str(refused.value)


def test_a_path_with_odd_characters_is_one_path(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%41é"
    folder.mkdir()
    quoted = str(folder).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    database = Database(f"sqlite:///{quoted}/x.db", Keyring(), create=True)
    database.close()
    assert (folder / "x.db").is_file()


@contextmanager
def protected(folder: Path) -> Iterator[None]:
    """Nobody may write in it: by a read-only mount for root, who asks no modes, else by those."""
    if os.geteuid() == 0:
        if subprocess.run(["mount", "--bind", folder, folder], check=False).returncode:
            pytest.skip("this root may not mount")
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", folder], check=True)
        return
    for path in (*folder.iterdir(), folder):
        path.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@pytest.fixture
def read_only(copy: Copy, tmp_path: Path) -> Iterator[Path]:
    """A database that nobody may write."""
    folder = tmp_path / "ro"
    folder.mkdir()
    (folder / "a.db").write_bytes(database_path(copy(None)).read_bytes())
    with protected(folder):
        yield folder / "a.db"


def test_a_file_that_cannot_be_written_is_refused_in_words(read_only: Path) -> None:
    """No path ends in an exception of the driver or the system."""
    with pytest.raises(DatabaseError, match=str(read_only)):
        Client(f"sqlite:///{read_only}").start(trip, {"id": "n", "mode": "fine"}, run_id="new")
    outside = Outside()
    with pytest.raises(DatabaseError, match=str(read_only)):
        serve(f"sqlite:///{read_only}", outside, MovedClock())
    assert outside.calls == []


def test_a_file_that_cannot_be_written_can_still_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If its mode is TRUNCATE: WAL needs its index beside the file, and that is written to."""
    monkeypatch.setattr(sqlite, "library", Older((3, 40, 1)))
    path = tmp_path / "a.db"
    Database(f"sqlite:///{path}", Keyring(), create=True).close()
    with protected(tmp_path):
        client = Client(f"sqlite:///{path}")
        assert client.runs() == []
        client.close()


# ---- forks and threads


def test_a_child_of_a_fork_does_not_touch_the_connections_of_its_parent(copy: Copy) -> None:
    """Reliability catalogue 9."""
    database = opened(copy(KEY))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        said = "it was used"
        try:
            database.read(lambda connection: connection)
        except DatabaseError as error:
            said = str(error)
        database.close()  # gives nothing back that is not its own
        os.write(writer, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"opened before a fork" in os.read(reader, 1000)
    os.close(reader)
    os.close(writer)
    names = database.read(lambda c: c.exec_driver_sql("SELECT run_id FROM runs").scalars().all())
    assert set(names) >= set(RUNS)
    database.close()


def test_what_nobody_closes_is_given_back_all_the_same(tmp_path: Path) -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    gc.collect()
    before = descriptors()
    for number in range(20):
        Database(f"sqlite:///{tmp_path / str(number)}.db", Keyring(), create=True)
    gc.collect()
    assert descriptors() == before
