"""What an orchestrator makes of an altered database, served in this process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from saga.clock import Clock
from saga.errors import DatabaseError
from saga.journal.database import Database, backend_for
from saga.journal.sqlite import database_path, library
from tests.databases import Unscrupulous
from tests.journal.changes import Change
from tests.journal.tamper import apply
from tests.journal.world import KEY, MINUTE, Outside, keyed, opened, serve
from tests.moved_clock import MovedClock

__all__ = ["Served", "alter", "restore", "serve_altered"]

LATER = 120 * MINUTE  # by then every attempt of every run is due


@dataclass(frozen=True)
class Served:
    """What was called, and for which runs there is an open case of damage.

    `refused`: the database was not opened.
    """

    outside: Outside
    cases: frozenset[str]
    refused: str = ""


def alter(url: str, change: Change) -> bool:
    """Make a change as somebody would who may do everything and has no scruples."""
    backend = backend_for(url, Clock())
    with closing(backend.connect()) as connection:
        return apply(Unscrupulous(connection), change)


def serve_altered(url: str, keys: str | None = KEY) -> Served:
    """Run an orchestrator, two hours later and with a friendlier outside."""
    outside = Outside()
    outside.generous = True
    clock = MovedClock(LATER)
    with keyed(keys):
        try:
            serve(url, outside, clock)
        except DatabaseError as error:
            return Served(outside, frozenset(), str(error))
        database = Database(url, opened(url, keys).keys, clock=clock)
        found = _damaged(database)
        database.close()
    return Served(outside, found)


def _damaged(database: Database) -> frozenset[str]:
    select = "SELECT run_id FROM cases WHERE kind = 'damaged' AND state = 'open'"
    return frozenset(
        database.read(lambda connection: connection.exec_driver_sql(select).scalars().all())
    )


def restore(url: str, source: str, runs: Iterable[str]) -> None:
    """Put the rows of these runs and all definitions back from a backup."""
    connection = library.connect(str(database_path(url)), isolation_level=None)
    connection.execute("ATTACH ? AS backup", (str(database_path(source)),))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM main.definitions")
    connection.execute("INSERT INTO main.definitions SELECT * FROM backup.definitions")
    for run in runs:
        for table in ("runs", "journal", "actions", "cases"):
            kept = " AND kind <> 'damaged'" if table == "cases" else ""
            connection.execute(f"DELETE FROM main.{table} WHERE run_id = ?{kept}", (run,))
            if key := {"actions": "key", "cases": "case_id"}.get(table):  # moved to another run
                theirs = f"SELECT {key} FROM backup.{table} WHERE run_id = ?"
                connection.execute(f"DELETE FROM main.{table} WHERE {key} IN ({theirs})", (run,))
            connection.execute(
                f"INSERT INTO main.{table} SELECT * FROM backup.{table} WHERE run_id = ?", (run,)
            )
    connection.execute("COMMIT")
    connection.close()
