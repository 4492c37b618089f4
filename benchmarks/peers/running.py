"""One measurement: a contender's program in a process of its own, and the server it works on."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.metering import Meter, Reading, fresh, metered
from benchmarks.peers.catalogue import Contender
from benchmarks.peers.timing import DATABASE, MARK, Timing
from benchmarks.progress import say
from tests.postgres.server import Server

__all__ = ["Figure", "measured"]

_ROOT = Path(__file__).parents[2]
_PATIENCE = 600.0  # seconds for one measurement


@dataclass(frozen=True, slots=True)
class Figure:
    """What is said of one contender. CPU in microseconds a saga, latencies in milliseconds.

    `commits` that wrote, `wal` in bytes and `server`, its CPU: those of the server, a saga; all of
    them 0 on files.
    """

    who: str
    where: str
    workload: str
    in_flight: int
    sagas_per_second: float
    cpu: float
    p50: float
    p99: float
    fsync: str
    commits: float
    wal: float
    server: float


def measured(
    one: Contender,
    python: Path,
    server: Server | None,
    folder: Path,
    task: tuple[str, int, int],
) -> Figure | None:
    """`task`: workload, sagas and how many in flight. `None` if it failed, and stderr says how."""
    workload, count, in_flight = task
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    env |= {"PYTHONPATH": str(_ROOT), DATABASE: "", **one.settings}
    readings, meter = list[Reading](), None
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-", dir=folder))
        if server is not None:
            env[DATABASE] = stack.enter_context(fresh(server, schema=one.schema))
            meter = stack.enter_context(metered(env[DATABASE]))
        words = [place, workload, str(count), str(in_flight)]
        command = [str(python), "-m", f"benchmarks.peers.{one.program}", *words]
        look = _nobody if meter is None else (lambda: readings.append(meter.read()))
        try:
            timing = _timing(command, env, look)
            commits, wal, cpu = (0.0, 0.0, 0.0) if meter is None else _spent(meter, *readings)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            say(f"{one.who}: {error}")
            return None
    return Figure(
        one.who,
        one.where,
        workload,
        in_flight,
        timing.count / timing.seconds,
        timing.cpu * 1e6 / timing.count,
        timing.p50,
        timing.p99,
        one.fsync,
        commits / timing.count,
        wal / timing.count,
        cpu * 1e6 / timing.count,
    )


def _spent(meter: Meter, *readings: Reading) -> tuple[float, float, float]:
    """Commits, bytes of WAL and seconds of CPU between the two readings."""
    if len(readings) != 2:
        raise ValueError(
            f"it said {len(readings)} times where measuring begins and ends, not twice"
        )
    before, after = readings
    return meter.commits(before, after), after.wal - before.wal, after.cpu - before.cpu


def _nobody() -> None:
    """Nothing is looked at."""


def _timing(command: list[str], env: dict[str, str], look: Callable[[], None]) -> Timing:
    """Run it, look where it says `mark`, and read its last line."""
    with subprocess.Popen(
        command, cwd=_ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        patience = threading.Timer(_PATIENCE, process.kill)
        patience.start()
        try:
            last = _last_line(process, look)
            code = process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            late = patience.finished.is_set()
            patience.cancel()
    if late:
        raise subprocess.TimeoutExpired(command, _PATIENCE)
    if code:
        raise subprocess.CalledProcessError(code, command)
    try:
        return Timing(**json.loads(last))
    except (TypeError, ValueError) as error:
        raise ValueError(f"its last line should be its timing, and is {last!r}") from error


def _last_line(process: subprocess.Popen[str], look: Callable[[], None]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    line = ""
    for line in process.stdout:
        if line.strip() == MARK:
            look()
            process.stdin.write("\n")
            process.stdin.flush()
    return line
