"""Orchestrators, and anything else, as processes of their own.

They are forked from one warm parent (multiprocessing's fork server), since a test has dozens and
importing takes a second. A child whose test is gone ends itself.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from saga import Orchestrator
from tests.cases.waiting import LONG

__all__ = ["Process", "orchestrate"]

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__, "saga.client", "tests.cases.scripted"])


class Process:
    """A process of this test. `log` is what it wrote to its streams."""

    def __init__(self, log: Path, target: Callable[..., None], *args: object) -> None:
        self._log = log
        self._process = _context.Process(target=_child, args=(str(log), target, args), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.is_alive()

    @property
    def stopped(self) -> bool:
        """Whether it sleeps after a SIGSTOP."""
        return self._status[0] in "tT"

    @property
    def processor_seconds(self) -> float:
        """The processor time that it has used."""
        return (int(self._status[11]) + int(self._status[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def _status(self) -> list[str]:
        """What /proc says of it, from the state on."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()

    @property
    def log(self) -> str:
        """What it has logged and printed."""
        return self._log.read_text() if self._log.exists() else ""

    def send(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, and be sure that it is gone."""
        if self.alive:
            self.send(signal.SIGKILL)
        self.ended()

    def terminate(self) -> None:
        """SIGTERM."""
        self.send(signal.SIGTERM)

    def ended(self, within: float = LONG) -> int:
        """Wait for its end; its exit code (negative: the signal)."""
        self._process.join(within)
        code = self._process.exitcode
        assert code is not None, f"process {self.pid} has not ended after {within:g} s"
        return code


def _child(log: str, target: Callable[..., None], args: tuple[object, ...]) -> None:
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s %(message)s"
    )
    target(*args)


def orchestrate(
    url: str,
    build: str,
    config: Mapping[str, Any],
    options: Mapping[str, Any],
    handled: Sequence[int] = (signal.SIGTERM, signal.SIGINT),
) -> None:
    """Run an orchestrator until one of the `handled` signals.

    `build` is module:function, which makes the app.
    """
    module, _, name = build.partition(":")
    app = getattr(import_module(module), name)(**config)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        parent = multiprocessing.parent_process()
        assert parent is not None
        loop.add_reader(parent.sentinel, os._exit, 3)
        orchestrator = Orchestrator(app, url, **options)
        for number in handled:
            loop.add_signal_handler(number, orchestrator.stop)
        await orchestrator.run()

    asyncio.run(main())
