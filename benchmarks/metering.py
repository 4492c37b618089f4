"""Databases of a server for one measurement each, and what the server does meanwhile."""

from __future__ import annotations

import subprocess
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

_QUERY = "SELECT pg_current_wal_flush_lsn()::text, pg_current_wal_flush_lsn() - '0/0'"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a server has done so far: where its WAL ends, in bytes too; seconds of its CPU."""

    position: str
    wal: float
    cpu: float


class Meter:
    """Reads what a server of this machine does, for whichever database."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        ((data,),) = connection.execute("SHOW data_directory").fetchall()
        self._data = Path(data)
        self._pid = int((self._data / "postmaster.pid").read_text().split()[0])

    def read(self) -> Reading:
        """By now."""
        ((position, wal),) = self._connection.execute(_QUERY).fetchall()
        return Reading(position, float(wal), cpu_of_family(self._pid))

    def checkpoint(self) -> None:
        """So that pages which are changed for the first time after one count, too."""
        self._connection.execute("CHECKPOINT")

    def commits(self, before: Reading, after: Reading) -> int:
        """Commits on the disk, by the WAL itself.

        The server's statistics count those that only read, and its transaction numbers count
        savepoints.
        """
        return self._dump(before, after, "-r", "Transaction").count("desc: COMMIT")

    def pages(self, before: Reading, after: Reading) -> float:
        """Bytes of the WAL that are whole pages, which only a page's first change has."""
        total = self._dump(before, after, "--stats").rpartition("Total")[2]
        _count, _records, _share, pages, *_ = total.split()
        return float(pages)

    def _dump(self, before: Reading, after: Reading, *what: str) -> str:
        program = Path(f"/proc/{self._pid}/exe").resolve().with_name("pg_waldump")
        span = ["-s", before.position, "-e", after.position]
        said = subprocess.run(
            [program, "-p", self._data / "pg_wal", *what, *span],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return said.stdout


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
