from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.world import World, judged
from tests.isolation.orders import ORDERS


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A database and an outside of its own; in the end the laws are checked by the ledger."""
    with judged(World(tmp_path)) as world:
        world.build = ORDERS
        yield world
