"""The command line as real processes in a folder of their own.

Most are forked from a warm parent that has imported everything: a process, arguments, files and
signals like any other, without the second that Python takes to import. `cold` starts Python anew,
for what a warm one cannot show: streams, encodings and imports as they are at the very start.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from tests.cli.warm import ROOT, Warm

__all__ = ["NOTHING", "Answer", "Env", "Process", "Shell"]

Env: TypeAlias = Mapping[str, str]
NOTHING: Env = {}


@dataclass(frozen=True)
class Answer:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.err)
        assert list(found) == ["error", "message", "remedy"], found
        return found


class Process:
    """A command under way."""

    def __init__(self, pid: int, out: Path, err: Path) -> None:
        self.pid = pid
        self._out, self._err = out, err

    @property
    def lives(self) -> bool:
        return _warm().poll(self.pid) is None

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def says(self, text: str, within: float = 10.0) -> str:
        """Wait until it has said `text` on stderr; all that it has said there."""
        until = time.monotonic() + within
        while text not in (said := self._err.read_text("utf-8", "replace")):
            assert self.lives, said
            assert time.monotonic() < until, said
            time.sleep(0.005)
        return said

    def end(self, within: float = 15.0) -> Answer:
        """Wait for its end."""
        until, pause = time.monotonic() + within, 0.001
        while (code := _warm().poll(self.pid)) is None:
            if time.monotonic() > until:
                self.kill()
                raise AssertionError(f"it did not end: {self._err.read_text('utf-8', 'replace')}")
            time.sleep(pause)
            pause = min(pause * 1.3, 0.05)
        out, err = (file.read_text("utf-8", "surrogateescape") for file in (self._out, self._err))
        return Answer(code, out, err)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        while self.lives:
            time.sleep(0.001)


class Shell:
    """A folder with an app and, once something is started, a database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "saga.db"
        self._count = 0

    def saga(self, *words: str, stdin: bytes = b"", env: Env = NOTHING) -> Answer:
        """Run one command to its end."""
        return self.begin(*words, stdin=stdin, env=env).end()

    def json(self, *words: str, stdin: bytes = b"", env: Env = NOTHING) -> Any:
        """The answer of a command that ends well, as JSON; it says nothing else."""
        answer = self.saga(*words, "--json", stdin=stdin, env=env)
        assert (answer.code, answer.err) == (0, ""), answer
        return answer.json

    def all(self, commands: Sequence[tuple[str, ...]]) -> list[Answer]:
        """Run commands that do not mind each other, a few at a time."""
        answers: list[Answer] = []
        for start in range(0, len(commands), 4):
            begun = [self.begin(*words) for words in commands[start : start + 4]]
            answers += [process.end() for process in begun]
        return answers

    def begin(self, *words: str, stdin: bytes = b"", env: Env = NOTHING) -> Process:
        """Start one command."""
        self._count += 1
        files = [self.folder / f".{name}-{self._count}" for name in ("in", "out", "err")]
        for file, content in zip(files, (stdin, b"", b""), strict=True):
            file.write_bytes(content)
        pid = _warm().begin(words, self.folder, {**_bare(), **env}, files)
        return Process(pid, *files[1:])

    def cold(
        self,
        *words: str | bytes,
        stdin: bytes = b"",
        env: Env = NOTHING,
        **how: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `python -m saga` from the very start."""
        everything = {**_bare(), **env}
        return subprocess.run(
            [sys.executable, "-m", "saga", *words],
            cwd=self.folder,
            env=everything,
            input=stdin,
            timeout=30,
            check=False,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
        )

    @contextmanager
    def orchestrator(self, *words: str, env: Env = NOTHING) -> Iterator[Process]:
        """A live orchestrator; it is ended well."""
        tuning = ("--lease", "2", "--poll", "0.05")
        process = self.begin("orchestrator", "trips.py:app", *tuning, *words, env=env)
        try:
            process.says(" runs ")
            yield process
        except BaseException:
            process.kill()
            raise
        if process.lives:
            process.signal(signal.SIGTERM)
            assert process.end().code == 0

    def idle(self, *words: str, env: Env = NOTHING) -> str:
        """Let an orchestrator do all there is to do; its log."""
        until_idle = ("orchestrator", "trips.py:app", "--until-idle", "--poll", "0.02")
        answer = self.saga(*until_idle, *words, env=env)
        assert answer.code == 0, answer
        return answer.err

    def ledger(self) -> list[dict[str, Any]]:
        """What really happened outside, in its order."""
        file = self.folder / "ledger.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _bare() -> dict[str, str]:
    """An environment without what would change the command line, wherever the tests run."""
    gone = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "LC_", "LANG", "SAGA_", "TERM", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
    return {**kept, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}


@cache
def _warm() -> Warm:
    warm = Warm()
    atexit.register(warm.close)
    return warm
