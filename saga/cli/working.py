"""The orchestrator as a process: signals, logs, the way out.

The first SIGTERM or SIGINT stops it with its grace time; the second one ends the process at once,
whatever the event loop is busy with: the handlers are the interpreter's, not the loop's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from datetime import UTC, datetime
from types import FrameType

from saga.cli import codes
from saga.cli.streams import visible
from saga.definition.saga import App
from saga.orchestrator.collector import tune_collector
from saga.orchestrator.orchestrator import Orchestrator

__all__ = ["work"]

_log = logging.getLogger("saga")


def work(
    app: App,
    url: str | None,
    *,
    lease: float,
    grace: float,
    poll: float,
    threads: int,
    runs_at_once: int,
    until_idle: bool,
) -> int:
    """Run until a signal, or until nothing is left to do; the exit code."""
    orchestrator = Orchestrator(
        app, url, lease=lease, grace=grace, poll=poll, threads=threads, runs_at_once=runs_at_once
    )
    _log_to_stderr()
    tune_collector()
    return asyncio.run(_work(app, orchestrator, grace, until_idle=until_idle))


async def _work(app: App, orchestrator: Orchestrator, grace: float, *, until_idle: bool) -> int:
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def on_signal(number: int, _: FrameType | None) -> None:
        if received:
            os.write(2, b"ended at once\n")
            os._exit(128 + number)
        received.append(number)
        loop.call_soon_threadsafe(orchestrator.stop)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    async with orchestrator:
        sagas = ", ".join(f"{saga.name}@{saga.version}" for saga in app.sagas)
        _log.info("orchestrator %s (pid %d) runs %s", orchestrator.id, os.getpid(), sagas)
        await (orchestrator.run_until_idle() if until_idle else orchestrator.run())
        if received:
            name = signal.Signals(received[0]).name
            _log.info("%s: starting nothing new; calls in flight get %g s", name, grace)
    _log.info("orchestrator ended")
    return codes.INTERRUPTED if received[:1] == [signal.SIGINT] else codes.DONE


class _OneLine(logging.Formatter):
    """Time, level, logger and text on one line, harmless to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        text = record.getMessage()
        if record.exc_info:
            text += " | " + self.formatException(record.exc_info)
        return visible(f"{at} {record.levelname} {record.name}: {text}")


def _log_to_stderr() -> None:
    logging.raiseExceptions = False  # a log that nobody reads stops nothing
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    _log.setLevel(logging.INFO)
