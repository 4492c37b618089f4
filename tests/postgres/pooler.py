"""A real PgBouncer before the server, which lends out its connections by the transaction.

No package of Python's brings one. `.ci/run` installs it and does not go on without; on a machine
that has none these tests are left out, and say so.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.databases import ServerDatabases
from tests.postgres.kept import kept
from tests.postgres.programs import somebody
from tests.postgres.server import Server

__all__ = ["PooledDatabases", "Pooler", "pooler", "program"]

_PORT = 6432  # of a socket in a folder of our own
_SIZE = 3  # fewer than there are of us, so that everybody gets everybody's


class Pooler:
    """Where the databases of a server are reached through it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self, direct: str) -> str:
        """The same database through the pooler."""
        return f"postgresql://saga@/{Server.name_of(direct)}?host={self._folder}&port={_PORT}"


class PooledDatabases(ServerDatabases):
    """As on a server; nobody in the test but its maker has another way to them."""

    def __init__(self, server: Server, template: Callable[[], str], before: Pooler) -> None:
        super().__init__(server, template)
        self._before = before

    def fresh(self, name: str = "saga") -> str:
        return self._before.url(super().fresh(name))

    def empty(self) -> str:
        return self._before.url(super().empty())


def program() -> str:
    """The program."""
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin"
    found = shutil.which("pgbouncer", path=path)
    if found is None:
        pytest.skip("there is no PgBouncer here: apt-get install pgbouncer")
    return found


@contextmanager
def pooler(server: Server) -> Iterator[Pooler]:
    """One before this server, for as long as the block takes."""
    folder = Path(tempfile.mkdtemp(prefix="saga-pool-"))
    user = somebody(folder)
    given = {name: str(value) for name, value in conninfo_to_dict(server.url).items()}
    place = {name: given[name] for name in ("host", "port", "user", "password") if name in given}
    (folder / "users").write_text(f'"{given.get("user", "saga")}" ""\n')
    (folder / "settings").write_text(
        f"""[databases]
* = {make_conninfo(**place)}
[pgbouncer]
pool_mode = transaction
default_pool_size = {_SIZE}
max_client_conn = 500
auth_type = any
auth_file = {folder}/users
listen_addr =
listen_port = {_PORT}
unix_socket_dir = {folder}
"""
    )
    words: list[str | Path] = [program(), folder / "settings"]
    one = kept(words, folder, user, Pooler(folder).url(server.url))
    try:
        one.start()
        yield Pooler(folder)
    finally:
        one.end()
