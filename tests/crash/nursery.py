"""One warm parent that forks orchestrators: real processes, ready in milliseconds.

`Nursery` starts it, `python -m tests.crash.nursery` is it: one thread, everything imported, no
database open, so that a child inherits nothing but code. It does what a line of JSON on its
standard input says and answers with a line. It alone waits for its children: the pid of a killed
one is not used again before somebody asks how it ended. When its input ends, so do they all.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from saga import DatabaseError, Orchestrator
from saga.clock import Clock
from tests.crash.orders import app

__all__ = ["NOT_BEGUN", "Child", "Nursery", "main"]

NOT_BEGUN = 6  # the exit code where there was no database to begin with
_log = logging.getLogger(__name__)
_ROOT = Path(__file__).resolve().parents[2]
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_CLOCK = "FAKETIME_TIMESTAMP_FILE"


class Child:
    """An orchestrator process. `log` is the file that it writes to; `clock`, see `Nursery`."""

    def __init__(self, nursery: Nursery, pid: int, log: Path, clock: Path) -> None:
        self.pid, self.log, self.clock = pid, log, clock
        self._nursery = nursery
        self._code: int | None = None

    def kill(self) -> int:
        """SIGKILL, and be sure that it is gone; its exit code (negative: the signal)."""
        self.send(signal.SIGKILL)
        return self.ended()

    def terminate(self) -> int:
        """SIGTERM, and wait for it to leave; its exit code."""
        self.send(signal.SIGTERM)
        return self.ended()

    def send(self, number: signal.Signals) -> None:
        """A signal, unless it is known to have ended."""
        if self._code is None:
            os.kill(self.pid, number)

    def ended(self) -> int:
        """Wait for its end; its exit code."""
        while (code := self.code) is None:
            time.sleep(0.005)
        return code

    @property
    def code(self) -> int | None:
        """Its exit code; `None` while it lives."""
        if self._code is None:
            self._code = self._nursery.ask({"do": "look", "pid": self.pid})["code"]
        return self._code

    def halt(self) -> None:
        """SIGSTOP, and wait until none of its threads moves any more."""
        self.send(signal.SIGSTOP)
        while self._moves():
            pass

    def proceed(self) -> None:
        """SIGCONT."""
        self.send(signal.SIGCONT)

    def _moves(self) -> bool:
        states = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                states.append((task / "stat").read_text().rpartition(") ")[2][0])
            except (FileNotFoundError, ProcessLookupError):
                continue  # a thread that has ended meanwhile
        return any(state not in "TtZX" for state in states)


class Nursery:
    """A handle on the warm parent. Its children work on `url` (a database) and at a shop.

    `clockwork` is a library that shows them the time that their file `clock` tells (libfaketime):
    `+1.5`, so many seconds later than it is.
    """

    def __init__(self, logs: Path, clockwork: Path | None = None) -> None:
        self._logs = logs
        self._born = 0
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=_ROOT,
            env=os.environ | ({} if clockwork is None else _clockwork(clockwork)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def orchestrate(self, url: str, shop: str, **options: float) -> Child:
        """Start an orchestrator; `options` are those of `Orchestrator`."""
        self._born += 1
        log = self._logs / f"orchestrator-{self._born}.log"
        clock = log.with_suffix(".clock")
        asked = {"do": "fork", "url": url, "shop": shop, "log": str(log), "clock": str(clock)}
        return Child(self, self.ask({**asked, "options": options})["pid"], log, clock)

    def ask(self, what: dict[str, Any]) -> dict[str, Any]:
        """One line there, one line back."""
        assert self._process.stdin is not None  # they are pipes
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the parent and all that it has forked."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def _clockwork(library: Path) -> dict[str, str]:
    """The clock of the wall is read from the file each time; durations stay as they are."""
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # else it makes Python wait for its own lock
    }


def main() -> None:
    """Be the warm parent until standard input ends."""
    gc.freeze()  # what is there by now is shared with all children, and garbage to none
    alive: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "fork":
            pid = os.fork()
            if pid == 0:
                _live(asked)
            alive.add(pid)
            _answer(pid=pid)
        else:
            gone, status = os.waitpid(asked["pid"], os.WNOHANG)
            alive.discard(gone)
            _answer(code=os.waitstatus_to_exitcode(status) if gone else None)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _answer(**what: int | None) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _live(asked: dict[str, Any]) -> NoReturn:
    """Be the child: an orchestrator until SIGTERM."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        _redirect(asked["log"])
        os.environ["SHOP_URL"] = asked["shop"]
        os.environ[_CLOCK] = asked["clock"]
        code = asyncio.run(_orchestrate(asked["url"], asked["options"]))
    except BaseException:  # noqa: BLE001  whatever it was, the log tells
        _log.exception("the orchestrator has failed")
    finally:
        os._exit(code)


def _redirect(log: str) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("saga").setLevel(logging.INFO)


class _Clock(Clock):
    """libfaketime takes the moment until which `time.sleep` sleeps for one of the wall's clock."""

    def sleep(self, seconds: float) -> None:
        threading.Event().wait(seconds)


async def _orchestrate(url: str, options: dict[str, Any]) -> int:
    orchestrator = Orchestrator(app, url, clock=_Clock(), **options)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, orchestrator.stop)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(orchestrator)
        except DatabaseError:
            _log.exception("it cannot begin")
            return NOT_BEGUN
        await orchestrator.run()
    return 0


if __name__ == "__main__":
    main()
