"""Statements that take many rows, and questions that take lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from saga.errors import Conflict
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.statements import Question, listed
from saga.journal.tables import runs
from tests.databases import Databases, Unscrupulous


@pytest.fixture
def database(databases: Databases) -> Iterator[Database]:
    with closing(Database(databases.fresh(), Keyring(), create=True)) as made:
        yield made


def _run(number: int) -> tuple[object, ...]:
    values = {
        "run_id": f"r{number}",
        "tenant": "",
        "saga": "s",
        "saga_version": 1,
        "definition": "sha256:0",
        "phase": "running",
        "version": 1,
        "fence": 1,
        "owner": "me" if number % 2 else "another",
        "due_at": 1.0,
        "started_at": 1.0,
        "key_id": "",
        "seal": "0" * 64,
    }
    return tuple(values.get(column.name) for column in runs.c)


def _head(number: int) -> tuple[object, ...]:
    new = ("ended", "completed", None, 2, None, None, 2.0, "", "1" * 64)
    return (*new, f"r{number}", 1, "me", 1)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 63, 64, 65, 127, 130, 200])
def test_every_row_is_written_however_many_there_are(count: int, database: Database) -> None:
    statements = database.statements
    with _writing(database) as cursor:
        statements.new_run.ensure(cursor, [_run(number) for number in range(count)])
        statements.head.ensure(cursor, [_head(number) for number in range(1, count, 2)])
        cursor.execute("SELECT count(*) FROM runs WHERE version = 2 AND owner = 'me'")
        assert cursor.fetchone() == (count // 2,)


@pytest.mark.parametrize("count", [1, 2, 64, 65, 130])
def test_a_row_that_changes_nothing_is_a_lost_race(count: int, database: Database) -> None:
    statements = database.statements
    with _writing(database) as cursor:
        statements.new_run.run(cursor, [_run(number) for number in range(1, 2 * count, 2)])
        statements.new_run.run(cursor, [_run(0)])  # another's
        heads = [_head(number) for number in (*range(1, 2 * count - 2, 2), 0)]
        with pytest.raises(Conflict):
            statements.head.ensure(cursor, heads)


@contextmanager
def _writing(database: Database) -> Iterator[Any]:
    """In a transaction of which nothing stays."""
    with database.connection() as connection:
        database.begin(connection)
        try:
            # A definition is not what this is about.
            Unscrupulous(driver(connection), in_transaction=True)
            yield driver(connection).cursor()
        finally:
            database.rollback(connection)


def test_a_question_takes_lists_of_any_length_and_any_text(database: Database) -> None:
    names = ["", "a", "it's", 'a "word"', "[1, 2]", "ä", "x" * 3000]
    question = Question(
        sa.select(sa.literal_column("'it''s'")).where(
            sa.literal_column("'it''s'").in_(listed("names"))
        )
    )
    with database.connection() as connection:
        assert question.ask(connection, names=names) == [("it's",)]
        assert question.ask(connection, names=[]) == []
        assert question.ask(connection, names=names * 500) == [("it's",)]
