"""Databases of a server for one measurement each, and what the server does meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import cpu_of_family
from saga.journal.postgres import connect, parameters
from tests.databases import with_schema
from tests.postgres.server import Server

__all__ = ["Meter", "Reading", "fresh", "metered"]

# A transaction gets a number when it first writes, so the next number counts those that did.
_QUERY = """SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int8,
    pg_current_wal_insert_lsn() - '0/0'"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a server has done so far: transactions that wrote, bytes of WAL, seconds of CPU."""

    writes: float
    wal: float
    cpu: float

    def since(self, before: Reading, count: int) -> Reading:
        """The same a saga, of so many since then."""
        return Reading(
            (self.writes - before.writes) / count,
            (self.wal - before.wal) / count,
            (self.cpu - before.cpu) / count,
        )


class Meter:
    """Reads what a server of this machine has done, for whichever database."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        ((data,),) = connection.execute("SHOW data_directory").fetchall()
        self._pid = int((Path(data) / "postmaster.pid").read_text().split()[0])

    def read(self) -> Reading:
        """By now."""
        ((writes, wal),) = self._connection.execute(_QUERY).fetchall()
        return Reading(writes, float(wal), cpu_of_family(self._pid))

    def checkpoint(self) -> None:
        """So that pages which are changed for the first time count as in everyday work."""
        self._connection.execute("CHECKPOINT")


@contextmanager
def metered(url: str) -> Iterator[Meter]:
    """A meter of the server that has this database."""
    with connect(parameters(url)) as connection:
        yield Meter(connection)


@contextmanager
def fresh(server: Server, *, schema: bool = True) -> Iterator[str]:
    """The URL of a new database, for as long as the block takes."""
    url = with_schema(server) if schema else server.make()
    try:
        yield url
    finally:
        server.drop(url)
