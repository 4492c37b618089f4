"""The schema: made and upgraded alike, and what is said about any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from saga.errors import DatabaseError
from saga.journal.database import Database, driver
from saga.journal.schema import SCRIPTS, check, upgrade
from saga.journal.sealing import Keyring
from saga.journal.sqlite import library
from saga.journal.tables import SCHEMA, metadata
from tests.journal.made import made_by
from tests.journal.world import KEY, SECOND_KEY

Copy = Callable[[str | None], Path]
KEYS = Keyring.parse(KEY)


@pytest.fixture
def upgraded() -> Iterator[sa.Connection]:
    """An empty database with all revisions, by Alembic alone."""
    engine = sa.create_engine("sqlite://", module=library, poolclass=sa.pool.StaticPool)
    config = Config(attributes={})
    config.set_main_option("script_location", str(SCRIPTS))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        yield connection
    engine.dispose()


def test_an_upgraded_schema_is_that_of_the_metadata(
    upgraded: sa.Connection, tmp_path: Path
) -> None:
    """To the letter: STRICT, WITHOUT ROWID, CHECKs, partial indexes, the revision table too."""
    Database(f"sqlite:///{tmp_path / 'new.db'}", KEYS, create=True).close()
    fresh = library.connect(str(tmp_path / "new.db"))
    made = driver(upgraded)
    assert made_by(made) == made_by(fresh)
    assert made.execute("SELECT * FROM alembic_version").fetchall() == [(SCHEMA,)]
    assert fresh.execute("SELECT * FROM alembic_version").fetchall() == [(SCHEMA,)]
    texts = {name: sql for kind, name, _, sql in made_by(fresh) if kind != "index"}
    assert all(sql.endswith("STRICT") for name, sql in texts.items() if name != "alembic_version")
    assert texts["actions"].endswith("WITHOUT ROWID, STRICT")
    fresh.close()


def test_alembic_finds_no_difference_either(upgraded: sa.Connection) -> None:
    context = MigrationContext.configure(upgraded, opts={"compare_server_default": True})
    assert compare_metadata(context, metadata) == []


def test_the_scripts_are_found_in_a_checkout() -> None:
    assert (SCRIPTS / "env.py").is_file()
    assert [path.name[:4] for path in sorted((SCRIPTS / "versions").glob("*.py"))] == [
        "0001",
        "0002",
    ]


def test_a_current_database_needs_nothing(copy: Copy) -> None:
    path = copy(KEY)
    condition = check(f"sqlite:///{path}", KEYS)
    assert condition.ok, condition.problems
    assert (condition.path, condition.found, condition.needed) == (str(path), SCHEMA, SCHEMA)
    assert condition.journal_mode == "wal"


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DROP INDEX ix_runs_claim", "index ix_runs_claim is missing"),
        (
            "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END",
            "trigger t is none of ours",
        ),
        ("ALTER TABLE runs ADD COLUMN more TEXT", "table runs is not as this version makes it"),
        ("DROP TABLE pauses", "table pauses is missing"),
        ("UPDATE alembic_version SET version_num = '9999'", "schema '9999', which this version"),
        ("UPDATE alembic_version SET version_num = '0000'", "it has schema 0000"),
        ("DELETE FROM alembic_version", "it has 0 schema revisions where one is right"),
        ("UPDATE instance SET instance = 'x'", "its instance row does not verify"),
    ],
)
def test_check_names_what_somebody_has_done_to_it(copy: Copy, sql: str, problem: str) -> None:
    path = copy(KEY)
    connection = library.connect(str(path), isolation_level=None)
    connection.execute(sql)
    connection.close()
    condition = check(f"sqlite:///{path}", KEYS)
    assert not condition.ok
    assert problem in condition.problems[0]


def test_check_says_what_there_is_instead_of_a_database(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database" * 1000)
    foreign = library.connect(str(tmp_path / "foreign.db"))
    foreign.execute("CREATE TABLE addresses (name)")
    foreign.close()
    said = {
        name: check(f"sqlite:///{tmp_path / name}", KEYS).problems[0]
        for name in ("none.db", "empty.db", "text.db", "foreign.db", "")
    }
    assert "no database at" in said["none.db"]
    assert "there is no database in it" in said["empty.db"]
    assert "file is not a database" in said["text.db"]
    assert "tables of something else" in said["foreign.db"]
    assert "is a folder" in said[""]


def test_check_and_upgrade_ask_for_the_keys(copy: Copy) -> None:
    url = f"sqlite:///{copy(KEY)}"
    for keys in (Keyring(), Keyring.parse(SECOND_KEY)):
        condition = check(url, keys)
        assert "made with key 'k1'" in condition.problems[0]
        assert "SAGA_KEYS" in condition.remedy
        with pytest.raises(DatabaseError, match="made with key 'k1'"):
            upgrade(url, keys)


def test_a_postgresql_url_is_refused_by_name() -> None:
    with pytest.raises(DatabaseError, match="not supported yet"):
        check("postgresql://host/db", KEYS)
