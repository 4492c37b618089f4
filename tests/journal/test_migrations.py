"""The schema: made and upgraded alike, and what is said about any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.journal.backend import backend_of, driver
from saga.journal.columns import metadata
from saga.journal.database import Database, backend_for
from saga.journal.making import REVISIONS
from saga.journal.schema import SCRIPTS, check, upgrade
from saga.journal.sealing import Keyring
from saga.journal.sqlite import library
from saga.journal.tables import SCHEMA
from saga.journal.verify import verify_database
from tests.databases import Databases, files_only, server_only
from tests.journal.made import made_by
from tests.journal.world import KEY, SECOND_KEY

Copy = Callable[[str | None], str]
KEYS = Keyring.parse(KEY)


@pytest.fixture
def upgraded(databases: Databases) -> Iterator[sa.Connection]:
    """An empty database with all revisions, by Alembic alone."""
    if databases.kind == "sqlite":
        engine = sa.create_engine("sqlite://", module=library, poolclass=sa.pool.StaticPool)
    else:
        backend = backend_for(databases.empty(), Clock())
        engine = backend.engine(backend.connect)
    config = Config(attributes={})
    config.set_main_option("script_location", str(SCRIPTS))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        yield connection
    engine.dispose()


@files_only
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


@server_only
def test_an_upgraded_schema_of_a_server_is_that_of_the_metadata(upgraded: sa.Connection) -> None:
    """By what the server says of both: types, collations, CHECKs, keys, partial indexes."""
    wanted = [metadata, REVISIONS.metadata]
    assert backend_of(upgraded).differences(upgraded, wanted) == []
    upgraded.exec_driver_sql("ALTER TABLE cases ALTER key TYPE varchar(300)")
    upgraded.exec_driver_sql("ALTER TABLE runs DROP CONSTRAINT ck_runs_fence")
    upgraded.exec_driver_sql("DROP INDEX ix_runs_claim")
    upgraded.exec_driver_sql("CREATE VIEW seen AS SELECT * FROM turns")
    assert backend_of(upgraded).differences(upgraded, wanted) == [
        "table cases is not as this version makes it",
        "constraint ck_runs_fence is missing",
        "index ix_runs_claim is missing",
        "view seen is none of ours",
    ]


def test_alembic_finds_no_difference_either(upgraded: sa.Connection) -> None:
    context = MigrationContext.configure(upgraded, opts={"compare_server_default": True})
    assert compare_metadata(context, metadata) == []


def test_the_scripts_are_found_in_a_checkout() -> None:
    assert (SCRIPTS / "env.py").is_file()
    assert [path.name[:4] for path in sorted((SCRIPTS / "versions").glob("*.py"))] == [
        "0001",
        "0002",
        "0003",
        "0004",
        "0005",
    ]


def test_a_current_database_needs_nothing(copy: Copy) -> None:
    url = copy(KEY)
    condition = check(url, KEYS)
    assert condition.ok, condition.problems
    assert (condition.found, condition.needed) == (SCHEMA, SCHEMA)
    assert condition.path == backend_for(url, Clock()).name
    assert (condition.journal_mode == "wal") is (condition.server is None)


def test_a_database_of_the_schema_before_is_upgraded_with_what_is_in_it(
    databases: Databases, copy: Copy
) -> None:
    url = copy(KEY)
    databases.query(url, "DROP INDEX ix_runs_party")
    if databases.kind == "postgresql":
        databases.query(url, "ALTER TABLE runs RESET (fillfactor)")
        databases.query(url, "ALTER TABLE actions SET (fillfactor = 70)")
    databases.query(url, "UPDATE alembic_version SET version_num = '0003'")
    with pytest.raises(DatabaseError, match="it has schema 0003") as refused:
        Database(url, KEYS)
    assert "saga db upgrade" in refused.value.remedy
    assert upgrade(url, KEYS) == ("0003", SCHEMA)
    assert check(url, KEYS).problems == ()
    if databases.kind == "postgresql":
        options = "SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL ORDER BY 1"
        assert databases.query(url, options) == databases.query(databases.fresh(), options)
    with closing(Database(url, KEYS)) as database, database.connection() as connection:
        assert verify_database(connection, KEYS) == []


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DROP INDEX ix_runs_claim", "index ix_runs_claim is missing"),
        ("TRIGGER", "trigger refusing is none of ours"),
        ("ALTER TABLE runs ADD COLUMN more TEXT", "table runs is not as this version makes it"),
        ("DROP TABLE pauses", "table pauses is missing"),
        ("UPDATE alembic_version SET version_num = '9999'", "schema '9999', which this version"),
        ("UPDATE alembic_version SET version_num = '0000'", "it has schema 0000"),
        ("DELETE FROM alembic_version", "it has 0 schema revisions where one is right"),
        ("UPDATE instance SET instance = 'x'", "its instance row does not verify"),
    ],
)
def test_check_names_what_somebody_has_done_to_it(
    databases: Databases, copy: Copy, sql: str, problem: str
) -> None:
    url = copy(KEY)
    if sql == "TRIGGER":
        databases.refuse_records(url, "r", "no")
    else:
        databases.query(url, sql)
    condition = check(url, KEYS)
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
    url = copy(KEY)
    for keys in (Keyring(), Keyring.parse(SECOND_KEY)):
        condition = check(url, keys)
        assert "made with key 'k1'" in condition.problems[0]
        assert "SAGA_KEYS" in condition.remedy
        with pytest.raises(DatabaseError, match="made with key 'k1'"):
            upgrade(url, keys)


@server_only
def test_the_schema_of_a_server_is_made_when_it_is_asked_for(databases: Databases) -> None:
    """Neither a start nor an orchestrator makes it: whose database it is may not be theirs."""
    url = databases.empty()
    for create in (True, False):
        with pytest.raises(DatabaseError, match="no saga schema in") as refused:
            Database(url, KEYS, create=create)
        assert refused.value.remedy == "run: saga db upgrade"
    assert not check(url, KEYS).ok
    assert upgrade(url, KEYS) == (None, SCHEMA)
    assert upgrade(url, KEYS) == (SCHEMA, SCHEMA)
    assert check(url, KEYS).ok
    Database(url, KEYS).close()
    databases.query(url, "UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(DatabaseError, match="it has schema 0001") as refused:
        Database(url, KEYS)
    assert refused.value.remedy == "run: saga db upgrade"


@server_only
def test_what_is_set_for_the_vacuum_is_the_owners_to_say_and_a_log_is_not(
    databases: Databases, copy: Copy
) -> None:
    url = copy(KEY)
    databases.query(url, "ALTER TABLE runs SET (autovacuum_vacuum_cost_delay = 0)")
    assert check(url, KEYS).problems == ()
    databases.query(url, "ALTER TABLE journal SET UNLOGGED")  # a crash of the server empties it
    assert check(url, KEYS).problems == ("table journal is not as this version makes it",)


@server_only
def test_a_server_that_may_lose_commits_is_refused(databases: Databases) -> None:
    url = databases.fresh()
    name = backend_for(url, Clock()).name.rpartition("/")[2]
    databases.query(url, f"ALTER DATABASE {name} SET synchronous_commit = off")
    with pytest.raises(DatabaseError, match="commits that it may lose") as refused:
        Database(url, Keyring())
    assert "synchronous_commit" in refused.value.remedy


def test_an_error_of_a_server_never_repeats_the_password() -> None:
    with pytest.raises(DatabaseError) as refused:
        Database("postgresql://user:secret@127.0.0.1:1/db", KEYS)
    assert "postgresql://127.0.0.1:1/db" in str(refused.value)
    with pytest.raises(DatabaseError) as unreadable:
        Database("postgresql://user:secret@[host/db", KEYS)
    assert "secret" not in f"{refused.value} {unreadable.value}"
