"""Processes that an example starts, and kills: `python -m …`, in the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["running"]

_ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive this one's interest in it."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=_ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
