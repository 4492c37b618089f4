"""For all tests: signals as a terminal gives them, and databases of both kinds."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.databases import KINDS, Databases, FileDatabases, ServerDatabases, with_schema
from tests.postgres.server import Server, served


def pytest_configure() -> None:
    # A shell that starts something in the background has it ignore SIGINT, and children inherit
    # that; the tests of Ctrl-C need it as it is in front of a person.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One server for all tests that need one; whoever has none fails."""
    with served() as server:
        yield server


@pytest.fixture(scope="session")
def empty_schema(postgres: Server) -> Callable[[], str]:
    """The database that fresh ones are copied from, made when it is first needed."""
    return cache(lambda: with_schema(postgres))


@pytest.fixture
def file_databases(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FileDatabases:
    return FileDatabases(tmp_path, lambda: tmp_path_factory.mktemp("lasting"))


@pytest.fixture
def server_databases(
    postgres: Server, empty_schema: Callable[[], str]
) -> Iterator[ServerDatabases]:
    databases = ServerDatabases(postgres, empty_schema)
    yield databases
    databases.end()


@pytest.fixture(params=KINDS)
def databases(request: pytest.FixtureRequest) -> Databases:
    """Where the databases of a test are: everything that takes it is run with each."""
    name = {"sqlite": "file_databases", "postgresql": "server_databases"}[request.param]
    found: Databases = request.getfixturevalue(name)
    return found
