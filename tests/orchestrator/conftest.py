from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.world import World, judged
from tests.databases import Databases


@pytest.fixture
def world(tmp_path: Path, databases: Databases) -> Iterator[World]:
    """A database and an outside of its own; in the end the laws are checked by the ledger."""
    with judged(World(tmp_path, databases)) as world:
        yield world
