"""A process that has imported everything and becomes `saga` on request, again and again.

Requests and answers are lines of JSON on stdin and stdout: `{"words", "folder", "env", "files"}`
forks a child that is the command line with these words and answers `{"pid"}`; `{"poll": pid}`
answers `{"code"}`, null while the child lives, negative for a signal.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Warm", "become", "serve"]

ROOT = Path(__file__).resolve().parents[2]


class Warm:
    """The process, from outside. It ends with the one that has made it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.warm"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def begin(
        self, words: Sequence[str], folder: Path, env: Mapping[str, str], files: Sequence[Path]
    ) -> int:
        """The pid of a new command; `files` are its stdin, stdout and stderr."""
        paths = [str(file) for file in files]
        return int(
            self._ask({"words": words, "folder": str(folder), "env": env, "files": paths})["pid"]
        )

    def poll(self, pid: int) -> int | None:
        """How it has ended; `None` while it has not."""
        code: int | None = self._ask({"poll": pid})["code"]
        return code

    def close(self) -> None:
        self._process.communicate(timeout=10)

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def serve() -> None:
    """Answer requests until there are none."""
    import saga.cli.pages  # noqa: PLC0415  all that a command may need
    import saga.cli.program  # noqa: PLC0415
    import saga.cli.working  # noqa: PLC0415
    import saga.client  # noqa: PLC0415
    import saga.journal.schema  # noqa: F401, PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # the children need no copies of what only lies there
    codes: dict[int, int] = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer: dict[str, int | None]
        if "poll" in request:
            pid = request["poll"]
            if pid not in codes and (ended := os.waitpid(pid, os.WNOHANG))[0]:
                codes[pid] = os.waitstatus_to_exitcode(ended[1])
            answer = {"code": codes.get(pid)}
        else:
            pid = os.fork()
            if not pid:
                become(**request)
            answer = {"pid": pid}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def become(words: list[str], folder: str, env: Mapping[str, str], files: list[str]) -> None:
    """In the new process: be `saga` with these words."""
    from saga.cli import main  # noqa: PLC0415  imported long ago

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    for number, (path, flags) in enumerate(
        zip(files, (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_APPEND), strict=True)
    ):
        os.dup2(os.open(path, flags), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os._exit(main(words))


if __name__ == "__main__":
    serve()
