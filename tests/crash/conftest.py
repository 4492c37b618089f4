from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.order_flow.shop import Shop, running_shop
from tests.crash.nursery import Nursery


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One shop for the tests of a module; each uses run ids of its own."""
    with running_shop(tmp_path_factory.mktemp("shop") / "ledger.db") as shop:
        yield shop


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """One warm parent for the tests of a module."""
    with Nursery(tmp_path_factory.mktemp("logs")) as nursery:
        yield nursery
