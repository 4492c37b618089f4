"""A server of ours, of whatever kind: it ends when we do, however that is, with its folder."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

__all__ = ["Kept", "kept"]

_SECONDS = 60.0
# It starts the server for every line that it reads, and ends when its input is closed: by us, or by
# our end.
_KEEPER = """
exec 3<&0
while read -r line <&3
do
  "$@" </dev/null 3<&- &
  server=$!
done
kill -INT $server 2>/dev/null
wait $server
rm -rf "$SAGA_TEST_FOLDER"
"""


@dataclass(frozen=True)
class Kept:
    """Its folder, where it answers, and who keeps it."""

    folder: Path
    url: str
    process: subprocess.Popen[bytes]

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"start\n")
        self.process.stdin.flush()
        until = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                log = (self.folder / "log").read_text("utf-8", "replace")
                assert self.process.poll() is None, log
                assert time.monotonic() < until, log
                time.sleep(0.02)
            else:
                return

    def end(self) -> None:
        """For good."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(_SECONDS)


def kept(words: list[str | Path], folder: Path, user: int | None, url: str) -> Kept:
    """Keep a server that these words start; it writes to `log` in the folder."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "sh", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, "SAGA_TEST_FOLDER": str(folder)},
            cwd=folder,
            user=user,
            start_new_session=True,  # Ctrl-C is for us; it ends after us
        )
    return Kept(folder, url, process)
