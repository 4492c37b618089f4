from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from saga.testing.laws import check_laws
from tests.cli.shell import Shell

TRIPS = Path(__file__).with_name("trips.py")


def shell_in(folder: Path) -> Shell:
    shutil.copy(TRIPS, folder / "trips.py")
    return Shell(folder)


def laws_hold(shell: Shell) -> None:
    """Whatever a test did: what happened outside is what the journal says."""
    if shell.database.exists():
        assert not check_laws(f"sqlite:///{shell.database}", shell.ledger())


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A folder with the app and nothing else. The laws hold at the end."""
    shell = shell_in(tmp_path)
    yield shell
    laws_hold(shell)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A folder with the app and a live orchestrator, for all tests of a module."""
    shell = shell_in(tmp_path_factory.mktemp("served"))
    with shell.orchestrator():
        yield shell
    laws_hold(shell)
