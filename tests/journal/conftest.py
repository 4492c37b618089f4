from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.journal.world import KEY, build, keyed


@pytest.fixture(autouse=True)
def _no_keys_of_the_machine() -> Iterator[None]:
    with keyed(None):
        yield


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Path]:
    """The database of `world`, once with a key and once without one."""
    folder = tmp_path_factory.mktemp("templates")
    return {KEY: build(folder / "keyed.db", KEY), None: build(folder / "plain.db", None)}


@pytest.fixture
def copy(templates: dict[str | None, Path], tmp_path: Path) -> Callable[[str | None], Path]:
    """A copy of such a database, to be altered."""
    count = 0

    def make(keys: str | None = KEY) -> Path:
        nonlocal count
        count += 1
        return copied(templates[keys], tmp_path / f"copy-{count}.db")

    return make


def copied(source: Path, target: Path) -> Path:
    """All connections to the source are closed: its file is whole without a log beside it."""
    shutil.copyfile(source, target)
    return target
