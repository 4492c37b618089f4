"""The mode of a file: what the SQLite library that is here can keep, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saga.errors import DatabaseError
from saga.journal import sqlite
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.sqlite import database_path, library, safe_wal
from tests.databases import FileDatabases
from tests.journal.older_library import Older
from tests.journal.world import KEY, opened

Copy = Callable[[str | None], str]


@pytest.fixture
def databases(file_databases: FileDatabases) -> FileDatabases:
    """All of this is about files."""
    return file_databases


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_which_libraries_are_free_of_the_wal_reset_fault(
    version: tuple[int, ...], *, safe: bool
) -> None:
    """Reliability catalogue 16: 3.7.0 to 3.51.2, but for the two that it was mended in as well."""
    assert safe_wal(version) is safe


@pytest.fixture
def affected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "library", Older((3, 40, 1)))


def modes(database: Database) -> tuple[str, int, int]:
    with database.connection() as connection:
        cursor = driver(connection)
        return (
            cursor.execute("PRAGMA journal_mode").fetchone()[0],
            cursor.execute("PRAGMA synchronous").fetchone()[0],
            cursor.execute("PRAGMA foreign_keys").fetchone()[0],
        )


def test_a_fixed_library_makes_a_wal_file_and_syncs_fully(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}", Keyring(), create=True)
    with database.connection(), database.connection():  # each one of them
        assert modes(database) == ("wal", 2, 1)
    database.close()


@pytest.mark.usefixtures("affected")
def test_an_affected_library_makes_a_truncate_file_and_syncs_fully(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}", Keyring(), create=True)
    assert modes(database) == ("truncate", 2, 1)
    database.close()


def test_an_affected_library_refuses_a_wal_file(copy: Copy, request: pytest.FixtureRequest) -> None:
    url = copy(KEY)
    request.getfixturevalue("affected")
    with pytest.raises(DatabaseError, match=r"WAL file and SQLite 3\.40\.1 can lose") as refused:
        opened(url)
    assert "pysqlite3" in refused.value.remedy


def test_a_fixed_library_keeps_the_mode_that_the_file_was_made_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that an older library may go on with it."""
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "library", Older((3, 40, 1)))
        Database(f"sqlite:///{tmp_path / 'a.db'}", Keyring(), create=True).close()
    database = opened(f"sqlite:///{tmp_path / 'a.db'}", None)
    assert modes(database) == ("truncate", 2, 1)
    database.close()


def test_a_library_without_strict_tables_is_refused(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "library", Older((3, 36, 0)))
    with pytest.raises(DatabaseError, match="too old"):
        opened(copy(KEY))


def test_a_connection_that_does_not_sync_fully_is_not_used(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked, not only told: a build may be made to ignore the one or the other."""

    class Deaf(Older):
        def connect(self, *args: Any, **options: Any) -> Any:
            return Ears(library.connect(*args, **options))

    class Ears:
        def __init__(self, connection: Any) -> None:
            self.connection = connection

        def execute(self, statement: str) -> Any:
            deaf = statement == "PRAGMA synchronous=FULL"
            return self.connection.execute("PRAGMA synchronous=NORMAL" if deaf else statement)

        def close(self) -> None:
            self.connection.close()

    monkeypatch.setattr(sqlite, "library", Deaf((3, 53, 4)))
    with pytest.raises(DatabaseError, match="cannot be written durably"):
        sqlite.connect(database_path(copy(KEY)))
