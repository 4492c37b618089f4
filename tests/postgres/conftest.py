from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.world import World
from tests.databases import ServerDatabases


@pytest.fixture
def world(tmp_path: Path, server_databases: ServerDatabases) -> Iterator[World]:
    """A database on the server and an outside of its own; in the end the laws are checked."""
    world = World(tmp_path, server_databases)
    try:
        yield world
    finally:
        world.close()
    world.lawful()
