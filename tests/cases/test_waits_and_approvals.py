"""C045 and C094: a moment is the same whatever its offset; an approval repeats nothing.

Everything is done as a user does it: an app in a file, the command line, one process after another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

MOMENTS = """
from datetime import datetime
from pydantic import BaseModel
from saga import App, Saga, Wait, input_of

class Order(BaseModel):
    at: datetime

order = input_of(Order)
app = App(Saga("moments", order, [Wait("until", until=order.at)]))
"""

TWO = """
from pathlib import Path
from pydantic import BaseModel
from saga import IDEMPOTENT, App, Approval, Call, Effect, NothingToUndo, Retry, Saga, Step, input_of

class Work(BaseModel):
    name: str

async def do(call: Call[Work]) -> Work:
    with Path("ledger").open("a") as ledger:
        ledger.write(call.step + "\\n")
    return call.args

def step(name, *after, **more):
    effect = Effect("do." + name, do, provider=IDEMPOTENT, retry=Retry(attempts=ATTEMPTS))
    return Step(name, effect, args=work, compensation=NothingToUndo("x"), after=after, **more)

work = input_of(Work)
first = step("s1")
pay = step("pay", first, approval=Approval(by=["ada"], expires=600))
ship = step("ship", first, approval=Approval(by=["bob"], expires=600))
app = App(Saga("two", work, [first, pay, ship, step("s3", pay, ship)]))
"""


class Shell:
    """The command line in a folder of its own, far from UTC."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = os.environ | {"TZ": "Asia/Kolkata", "PYTHONPATH": str(Path.cwd())}

    def __call__(self, *words: str, code: int = 0) -> Any:
        """The answer of `saga WORDS --json`; it ends with `code`."""
        done = subprocess.run(
            [sys.executable, "-m", "saga", *words, "--json"],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else done.stderr

    def work(self) -> None:
        """An orchestrator of its own, until nothing is due."""
        words = [sys.executable, "-m", "saga", "orchestrator", "app.py:app", "--until-idle"]
        subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            check=True,
            timeout=120,
        )

    def app(self, text: str) -> None:
        """Another build of the app."""
        (self.folder / "app.py").write_text(text)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


OFFSETS = (timedelta(hours=-8), timedelta(hours=1), timedelta(hours=5, minutes=30), timedelta())


def test_an_offset_other_than_utc_means_the_same_instant(shell: Shell) -> None:
    """C045: all fire at one instant, and it is read back as an aware one, microseconds and all."""
    shell.app(MOMENTS)
    instant = datetime.now(UTC) + timedelta(days=400, microseconds=123_457)
    for number, offset in enumerate(OFFSETS):
        local = instant.replace(tzinfo=None) + offset
        sign = "-" if offset < timedelta() else "+"
        hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
        text = f"{local.isoformat()}{sign}{hours:02}:{minutes:02}"
        shell("start", "app.py:app", "moments", f"r{number}", json.dumps({"at": text}))
    shell.work()
    for number, _ in enumerate(OFFSETS):
        due = datetime.fromisoformat(shell("show", f"r{number}")["due_at"])
        assert due.utcoffset() is not None
        assert abs(due - instant) < timedelta(milliseconds=1)


def test_a_moment_that_has_passed_by_its_offset_is_over_at_once(shell: Shell) -> None:
    """C045: a wall clock that reads later than ours can still name a moment before it."""
    shell.app(MOMENTS)
    passed = datetime.now(UTC) - timedelta(seconds=1)
    text = (passed.replace(tzinfo=None) + timedelta(hours=14)).isoformat() + "+14:00"
    shell("start", "app.py:app", "moments", "r", json.dumps({"at": text}))
    shell.work()
    run = shell("show", "r")
    assert run["outcome"] == "completed"
    assert datetime.fromisoformat(run["steps"][0]["receipt"]["at"]) == passed


def test_a_time_without_an_offset_is_refused(shell: Shell) -> None:
    """C045: nobody guesses whose clock it is; nothing is created."""
    shell.app(MOMENTS)
    given = json.dumps({"at": "2030-01-01T13:30:00"})
    said = shell("start", "app.py:app", "moments", "r", given, code=2)
    assert "offset" in str(said)
    shell("show", "r", code=6)


def test_an_approval_repeats_nothing_that_came_before(shell: Shell) -> None:
    """C094: two approvals wait at once, answered elsewhere, after a restart, by another build."""
    shell.app(f"ATTEMPTS = 5\n{TWO}")
    shell("start", "app.py:app", "two", "r", '{"name": "x"}')
    shell.work()
    asked = {one["step"]: one for one in shell("approvals")}
    assert set(asked) == {"pay", "ship"}
    shell.app(f"ATTEMPTS = 7\n{TWO}")
    shell.work()
    for name, person in (("pay", "bob"), ("ship", "ada")):  # each the other's
        shell("approve", "r", name, *_bound(asked[name]), "--by", person, code=5)
    shell("approve", "r", "pay", *_bound(asked["ship"]), "--by", "ada", code=4)
    shell("approve", "r", "pay", *_bound(asked["pay"]), "--by", "ada")
    shell.work()
    assert _ledger(shell) == ["s1", "pay"]
    shell("approve", "r", "ship", *_bound(asked["ship"]), "--by", "bob")
    shell.work()
    assert shell("show", "r")["outcome"] == "completed"
    assert _ledger(shell) == ["s1", "pay", "ship", "s3"]


def _bound(asked: Any) -> tuple[str, ...]:
    return "--version", str(asked["version"]), "--digest", asked["digest"]


def _ledger(shell: Shell) -> list[str]:
    return (shell.folder / "ledger").read_text().split()
