"""A disk that is full, or fails at any write: nothing by half, and no call without an intent."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel

from saga import App, Call, Compensation, Effect, NothingToUndo, Saga, Step, Undo, input_of
from saga.client import Client
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.verify import verify_database
from saga.orchestrator.orchestrator import Orchestrator
from tests.journal.world import opened, versions

ROOT = Path(__file__).parents[2]


# ---- no space


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk, and not everywhere")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def writing(path: Path, *arguments: object, limit: int | None = None) -> list[str]:
    """A process that starts runs until it is refused; what it has acknowledged."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = subprocess.run(
        [sys.executable, "-m", "tests.journal.writing", f"sqlite:///{path}", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
        timeout=120,
    )
    assert process.returncode == 1, process.stderr
    return process.stdout.split()


def assert_whole(path: Path, acknowledged: Sequence[str]) -> None:
    """Everything acknowledged is there, and nothing by half."""
    database = opened(f"sqlite:///{path}", None)
    with database.connection() as connection:
        assert verify_database(connection, database.keys) == []
        checked = driver(connection).execute("PRAGMA integrity_check").fetchall()
        assert checked == [("ok",)]
    assert set(versions(database)) >= set(acknowledged)
    database.close()


def test_a_full_disk_takes_no_half_record(tmp_path: Path) -> None:
    """Reliability catalogue 11."""
    with small_disk(tmp_path / "disk") as disk:
        acknowledged = writing(disk / "a.db", 1000, 20_000)
        assert 5 < len(acknowledged) < 50
        shutil.copytree(disk, tmp_path / "saved")
    assert_whole(tmp_path / "saved" / "a.db", acknowledged)


def test_a_file_that_may_not_grow_takes_no_half_record(tmp_path: Path) -> None:
    """The same for who is no root: by a limit of the process."""
    acknowledged = writing(tmp_path / "a.db", 1000, 20_000, limit=600_000)
    assert 5 < len(acknowledged) < 50
    assert_whole(tmp_path / "a.db", acknowledged)


class Item(BaseModel):
    folder: str


class Done(BaseModel):
    where: str = ""


def test_no_call_is_made_whose_intent_could_not_be_stored(tmp_path: Path) -> None:
    """The disk fills up while the first step is out. When there is room again, the run goes on."""
    calls: list[str] = []

    async def fill(call: Call[Item]) -> Done:
        calls.append("fill")
        ballast = Path(call.args.folder) / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 512)
            except OSError:
                pass
        asyncio.get_running_loop().call_later(1.0, make_room, ballast)
        return Done()

    def make_room(ballast: Path) -> None:
        calls.append("room")
        ballast.unlink()

    async def after(call: Call[Item]) -> Done:
        calls.append("after")
        return Done()

    async def take_back(call: Undo[Item, Done]) -> None:
        calls.append("undo")

    item = input_of(Item)
    saga = Saga(
        "full",
        item,
        [
            Step("fill", Effect("a", fill), args=item, compensation=Compensation("b", take_back)),
            Step("after", Effect("c", after), args=item, compensation=NothingToUndo("no")),
        ],
    )

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Sequence[object]]:
        yield []

    with small_disk(tmp_path / "disk") as disk:
        url = f"sqlite:///{disk / 'a.db'}"
        client = Client(url)
        client.start(saga, Item(folder=str(disk)), run_id="r")
        orchestrator = Orchestrator(App(saga, lifespan=lifespan), url, poll=0.05)
        asyncio.run(asyncio.wait_for(orchestrator.run_until_idle(), 60))
        assert client.show("r").outcome == "completed"
        client.close()
    assert calls == ["fill", "room", "after"]


# ---- killed or failing at each system call that writes


def traced(path: Path, call: str, what: str, number: int) -> tuple[int, list[str]]:
    """Exit code and acknowledgements of a process whose Nth such call fails or kills it."""
    program = [sys.executable, "-m", "tests.journal.writing", f"sqlite:///{path}", "3"]
    process = subprocess.run(
        [*STRACE, "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={number}", *program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return process.returncode, process.stdout.split()


STRACE = ("strace", "-f", "-qq", "-o", "/dev/null")


@pytest.mark.parametrize("call", ["pwrite64", "fsync"])
@pytest.mark.parametrize(
    ("what", "numbers"), [("signal=KILL", (1, 4, 9, 14)), ("error=EIO", (5, 8, 11))]
)
def test_what_was_acknowledged_is_there_after_a_failure_at_any_write(
    tmp_path: Path, call: str, what: str, numbers: tuple[int, ...]
) -> None:
    """Reliability catalogue 3 and 12: some of the places. Each leaves a whole database or none."""
    if shutil.which("strace") is None or subprocess.run([*STRACE, "true"], check=False).returncode:
        pytest.skip("no strace here, or it may not trace")
    ends = set()
    for number in numbers:
        path = tmp_path / f"{number}.db"
        code, acknowledged = traced(path, call, what, number)
        ends.add(code)
        if acknowledged:
            assert_whole(path, acknowledged)
        else:  # no database, or one without a run: who comes next makes or opens it
            Database(f"sqlite:///{path}", Keyring(), create=True).close()
    assert ends - {0}
