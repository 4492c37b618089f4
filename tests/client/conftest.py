from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.desk import Desk
from tests.databases import Databases


@pytest.fixture
def desk(databases: Databases) -> Iterator[Desk]:
    """A database of its own. The laws hold at the end."""
    desk = Desk(databases)
    yield desk
    desk.client.close()
    desk.laws_hold()
