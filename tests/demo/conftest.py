from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Played:
    """The demo as it was played once, by the command that `dev.py demo` runs."""

    folder: Path
    code: int
    table: str
    progress: str
    took: float

    @property
    def pids(self) -> list[int]:
        """The processes that it says it has started."""
        return [int(pid) for pid in re.findall(r"\(pid (\d+)\)", self.progress)]


def demo(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "examples.order_flow.demo", *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
        start_new_session=True,  # as in a terminal: Ctrl-C goes to its process group
    )


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("demo") / "kept"
    began = time.monotonic()
    with demo("--keep", str(folder)) as process:
        table, progress = process.communicate(timeout=240)
    return Played(folder, process.returncode, table, progress, time.monotonic() - began)


@pytest.fixture
def kept(played: Played, tmp_path: Path) -> Path:
    """A copy of what it left, to be altered."""
    return Path(shutil.copytree(played.folder, tmp_path / "kept"))


Judged = Callable[[Path], tuple[int, str]]


@pytest.fixture
def judged(capsys: pytest.CaptureFixture[str]) -> Judged:
    """`demo --judge FOLDER`: the exit code, and all that it prints."""
    from examples.order_flow.demo.program import run  # noqa: PLC0415  only where it is needed

    def judge(folder: Path) -> tuple[int, str]:
        code = run(["--judge", str(folder)])
        return code, capsys.readouterr().out

    return judge
