"""Plans are kept by the server: what was planned for empty tables must hold for large ones."""

from __future__ import annotations

from contextlib import closing

import pytest

from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.history import read_stored
from saga.journal.sealing import Keyring
from tests.databases import ServerDatabases


@pytest.mark.parametrize(
    ("name", "types", "index"),
    [
        ("head", "tttwrrrtttwtw", "pk_runs"),
        ("action", "twtt", "pk_actions"),
    ],
)
def test_a_hot_update_finds_its_rows_by_their_key(
    server_databases: ServerDatabases, name: str, types: str, index: str
) -> None:
    kinds = {"t": "text[]", "w": "int8[]", "r": "float8[]"}
    with closing(Database(server_databases.fresh(), Keyring())) as database:
        text: str = getattr(database.statements, name).text
        assert text.count("%b") == len(types)
        for number in range(len(types)):
            text = text.replace("%b", f"${number + 1}", 1)
        declared = ", ".join(kinds[kind] for kind in types)
        nothing = ", ".join("NULL" for _ in types)
        with database.connection() as connection, database.turn(connection):
            raw = driver(connection)
            raw.execute(f"PREPARE hot ({declared}) AS {text}", prepare=False)
            rows = raw.execute(f"EXPLAIN EXECUTE hot ({nothing})", prepare=False).fetchall()
    plan = " ".join(row[0] for row in rows)
    assert f"Index Scan using {index}" in plan
    assert "Seq Scan" not in plan


def test_who_writes_has_nothing_planned_again(server_databases: ServerDatabases) -> None:
    """Planning a hot statement takes the server longer than doing what it says for one run."""
    with (
        closing(Database(server_databases.fresh(), Keyring())) as database,
        database.connection() as connection,
    ):
        for _ in range(8):
            with database.turn(connection):
                read_stored(connection, ["r1"])
        rows = driver(connection).execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement LIKE '%journal%'"
        )
        assert rows.fetchall() == [(8, 0)]
