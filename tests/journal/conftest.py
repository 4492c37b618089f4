from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.databases import Databases
from tests.journal.parties import Waiting
from tests.journal.world import KEY, build, keyed

Key = tuple[str, str | None]


@pytest.fixture(autouse=True)
def _no_keys_of_the_machine() -> Iterator[None]:
    with keyed(None):
        yield


@pytest.fixture(scope="session")
def built() -> dict[Key, str]:
    """The databases of `world` that have been made, by the kind of database and the key."""
    return {}


@pytest.fixture
def template(databases: Databases, built: dict[Key, str]) -> Callable[[str | None], str]:
    """The database of `world`, with a key or without one; not to be altered."""

    def made(keys: str | None = KEY) -> str:
        place = databases.kind, keys
        if place not in built:
            built[place] = build(databases.lasting(keys), keys)
        return built[place]

    return made


@pytest.fixture
def copy(
    databases: Databases, template: Callable[[str | None], str]
) -> Callable[[str | None], str]:
    """A copy of such a database, to be altered."""

    def copied(keys: str | None = KEY) -> str:
        return databases.copied(template(keys))

    return copied


@pytest.fixture
def waiting(databases: Databases) -> Iterator[Waiting]:
    """Nobody waits yet."""
    with closing(Database(databases.fresh(), Keyring(), create=True)) as database:
        yield Waiting(database)
