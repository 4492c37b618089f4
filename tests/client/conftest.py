from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A database of its own. The laws hold at the end."""
    desk = Desk(tmp_path)
    yield desk
    desk.client.close()
    desk.laws_hold()
