"""Orchestrators as processes of their own, and what they cost by the kernel's books (Linux)."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "ROOT",
    "Cost",
    "cost",
    "cpu_of_family",
    "orchestrator",
    "stop_between_writes",
    "until",
]

ROOT = Path(__file__).parents[1]
_TICKS = os.sysconf("SC_CLK_TCK")
_LEAVE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process has used so far: CPU in seconds; memory that it holds now, in MB."""

    cpu: float
    memory: float


def cost(process: subprocess.Popen[bytes]) -> Cost:
    """By now."""
    folder = Path("/proc") / str(process.pid)
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    status = (folder / "status").read_text()
    (resident,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    ticks = int(fields[11]) + int(fields[12])
    return Cost(cpu=ticks / _TICKS, memory=int(resident.split()[1]) / 1024)


def cpu_of_family(pid: int) -> float:
    """Seconds that a process and its children have used, those that have ended too."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(folder.name) == pid:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            ticks += sum(map(int, fields[11:13]))
    return ticks / _TICKS


@contextmanager
def orchestrator(
    words: Sequence[str], log: Path, settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m` these words; ended with SIGTERM if it is still there."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **(settings or {})}
    with log.open("ab") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(text: str, log: Path, process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has said something; `RuntimeError` if it ends before or never does."""
    end = time.monotonic() + seconds
    while text not in log.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"an orchestrator did not say {text!r}; it said:\n{log.read_text()}")
        time.sleep(0.05)


def stop_between_writes(process: subprocess.Popen[bytes], database: Path) -> None:
    """SIGSTOP, while it is not writing: SQLite lets nobody write past a writer that sleeps."""
    with database.with_name(database.name + "-turn").open("rb") as file:
        while True:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                process.send_signal(signal.SIGCONT)
            else:
                return
