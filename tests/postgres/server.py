"""A real PostgreSQL server for tests and measurements, started by nobody else and gone with us.

Which one: the server that SAGA_TEST_POSTGRES_URL names (we may make databases there); else one of
our own, by the programs that `programs` finds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from tests.postgres.kept import Kept, kept
from tests.postgres.programs import programs, readable, somebody

__all__ = ["URL", "Server", "served", "server", "standby"]

URL = "SAGA_TEST_POSTGRES_URL"
# What a server of ours is told. A test kills processes, never the machine: what has been given to
# the system is safe, and syncing it would only take time. Whoever measures asks for `fsync`.
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "log_min_messages": "fatal",
}
_INITDB = ["-U", "saga", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]


class Server:
    """A server that runs; it makes databases."""

    def __init__(self, url: str, kept: Kept | None = None, of: Path | None = None) -> None:
        self.url = url  # of a database that is there to begin with
        self._kept = kept  # if it is ours
        self._of = of  # the programs that run it then
        self._count = 0
        self._made: list[str] = []
        self._mark = f"saga_test_{os.getpid()}"

    def make(self, template: str | None = None, *, like: str = "") -> str:
        """A new database, a copy of another one if that is named; its URL.

        Nobody may be connected to the other one.
        """
        self._count += 1
        name = f"{self._mark}_{self._count}{like}"
        made = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'").format(
            sql.Identifier(name),
            sql.Identifier("template0" if template is None else self.name_of(template)),
        )
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(made)
        self._made.append(name)
        return self._url(name)

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        name = self.name_of(url)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )
        self._made.remove(name)

    @property
    def folder(self) -> Path:
        """Where the socket of a server of ours is."""
        return self._ours.folder

    @property
    def programs(self) -> Path:
        """What a server of ours is run by."""
        assert self._of is not None, "the server is not ours"
        return self._of

    def stop_at_once(self) -> None:
        """As `pg_ctl stop -m immediate`: without goodbye, or writing what it has in memory.

        Only a server of ours; `start` brings it back, and then it recovers.
        """
        file = self._ours.folder / "data" / "postmaster.pid"
        pid = int(file.read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        while file.exists():  # it removes that last of all
            time.sleep(0.01)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._ours.start()

    def end(self) -> None:
        """Remove what we have made, and the server too if it is ours."""
        if self._kept is not None:
            self._kept.end()
            return
        for name in [*self._made]:
            self.drop(self._url(name))

    @property
    def _ours(self) -> Kept:
        assert self._kept is not None, "the server is not ours"
        return self._kept

    @staticmethod
    def name_of(url: str) -> str:
        return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])

    def _url(self, name: str) -> str:
        before, _, rest = self.url.partition("://")
        place, slash, after = rest.partition("/")
        assert slash, self.url
        _, question, options = after.partition("?")
        return f"{before}://{place}/{name}{question}{options}"


@contextmanager
def served(*, fsync: bool = False, of: Path | None = None) -> Iterator[Server]:
    """A server, for as long as the block takes; one of our own, by these programs, if given."""
    one = server(fsync=fsync, of=of)
    try:
        yield one
    finally:
        one.end()


def server(*, fsync: bool = False, of: Path | None = None) -> Server:
    """Start one, by these programs if given; else take the one that the environment names."""
    if of is None and (url := os.environ.get(URL)):
        return Server(url)
    return _started(of or programs(), ["initdb", *_INITDB], fsync=fsync)


@contextmanager
def standby(primary: Server) -> Iterator[Server]:
    """A standby that follows a server of ours, by the same programs; it answers, and only reads."""
    source = primary.url.replace("/postgres?", "/?")
    one = _started(
        primary.programs, ["pg_basebackup", "-R", "-c", "fast", "--no-sync", "-d", source]
    )
    try:
        yield one
    finally:
        one.end()


def _started(chosen: Path, making: list[str], *, fsync: bool = False) -> Server:
    folder = Path(tempfile.mkdtemp(prefix="saga-pg-"))  # short: a socket's path has a limit
    user = somebody(folder)
    found = readable(chosen, folder, user)
    program, *words = making
    made = subprocess.run(
        [found / program, "-D", folder / "data", *words],
        capture_output=True,
        cwd=folder,
        user=user,
        check=False,
    )
    assert made.returncode == 0, made.stderr.decode()
    command: list[str | Path] = [found / "postgres", "-D", folder / "data", "-k", folder]
    for name, value in (_SETTINGS | {"fsync": "on" if fsync else "off"}).items():
        command += ["-c", f"{name}={value}"]
    url = f"postgresql://saga@/postgres?host={folder}"
    one = Server(url, kept(command, folder, user, url), chosen)
    one.start()
    return one
