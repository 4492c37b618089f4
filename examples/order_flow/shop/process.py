"""Starting, steering and stopping the shop from another process, for demos and tests.

    with running_shop(tmp_path / "ledger.db") as shop:
        shop.rule("hold_answer", run_id="order-1", step="charge")
        ...                                 # something charges order-1
        shop.wait_held(run_id="order-1")    # the charge landed, its answer waits
        shop.release()
        assert [row["step"] for row in shop.ledger("order-1")] == ["charge"]

Only the standard library and plain HTTP are used here. All calls block, for milliseconds; the shop
ends with the block, and also when this process dies.
"""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from examples.order_flow.shop.ledger import read_effects, read_ledger

__all__ = ["Shop", "running_shop"]

_ROOT = Path(__file__).resolve().parents[3]


class Shop:
    """A running shop. `url` is what an HTTP client needs, `path` is its ledger file."""

    def __init__(self, path: Path | str, *options: str, port: int = 0) -> None:
        self.path = Path(path).absolute()
        self._options = options
        self._process = self._start(port)

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "examples.order_flow.shop", "--tied"]
        command += ["--ledger", str(self.path), "--port", str(port), *self._options]
        process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None  # it is a pipe
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the shop did not start: exit code {_gone(process)}")
        said = json.loads(line)
        self.url: str = said["url"]
        self.port: int = said["port"]
        self.pid: int = said["pid"]
        return process

    # --- its life -------------------------------------------------------------------------

    def stop(self) -> int:
        """SIGTERM, and wait; the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """SIGKILL, and wait."""
        return self._end(signal.SIGKILL)

    def start_again(self) -> None:
        """The same shop once more: same ledger, same port, no rules."""
        self._process = self._start(self.port)

    def _end(self, number: signal.Signals) -> int:
        process = self._process
        if process.poll() is None:
            process.send_signal(number)
        return _gone(process)

    # --- its levers -----------------------------------------------------------------------

    def rule(
        self,
        act: str,
        *,
        run_id: str = "*",
        step: str = "*",
        path: str = "*",
        key: str = "*",
        method: str = "POST",
        undo: bool | None = None,
        nth: int | None = None,
        times: int | None = 1,
        **parameters: object,
    ) -> int:
        """Add a rule to the book; its number. See `shop.rules` for the acts."""
        match = {"run_id": run_id, "step": step, "path": path, "key": key, "method": method}
        rule = {"act": act, "match": match | {"undo": undo, "nth": nth}, "times": times}
        number: int = self.ask("POST", "/rules", rule | parameters)["id"]
        return number

    def rules(self) -> list[dict[str, Any]]:
        """The rule book, with `fitted` and `hits` of each rule."""
        book: list[dict[str, Any]] = self.ask("GET", "/rules")
        return book

    def behave(self) -> None:
        """Forget all rules."""
        self.ask("DELETE", "/rules")

    def held(self, *, run_id: str | None = None, wait: float = 0) -> list[dict[str, Any]]:
        """The requests that are held now, waiting up to `wait` seconds for one."""
        wanted = {"wait": wait} | ({} if run_id is None else {"run_id": run_id})
        path = "/held?" + urlencode(wanted)
        held: list[dict[str, Any]] = self.ask("GET", path, timeout=wait + 10)
        return held

    def wait_held(self, *, run_id: str | None = None, wait: float = 10) -> dict[str, Any]:
        """The first request that is held; `TimeoutError` if none comes."""
        held = self.held(run_id=run_id, wait=wait)
        if not held:
            raise TimeoutError(f"the shop held no request of {run_id or 'any run'} in {wait} s")
        return held[0]

    def release(self, **wanted: object) -> int:
        """Let held requests go (`id`, `run_id`, `key`, `place`; all without); how many."""
        released: int = self.ask("POST", "/release", wanted)["released"]
        return released

    def ask(self, method: str, path: str, body: object = None, *, timeout: float = 10) -> Any:
        """One plain request to the shop; the JSON that comes back."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            text = reply.read()
        finally:
            connection.close()
        if reply.status >= 400:
            raise ValueError(f"{method} {path}: {reply.status} {text.decode()}")
        return json.loads(text)

    # --- its word -------------------------------------------------------------------------

    def ledger(self, run_id: str | None = None) -> list[dict[str, Any]]:
        """What landed (for one run), `{key, run_id, step, of_key, at}`, read from the file."""
        return [row for row in read_ledger(self.path) if run_id in (None, row["run_id"])]

    def effects(self, run_id: str | None = None) -> list[dict[str, Any]]:
        """The same with service, kind, digest and receipt."""
        return [row for row in read_effects(self.path) if run_id in (None, row["run_id"])]


def _gone(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of the process; its exit code."""
    code = process.wait(timeout=10)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return code


@contextmanager
def running_shop(path: Path | str, *options: str, port: int = 0) -> Iterator[Shop]:
    """A shop with its ledger at `path` for the length of the block; options as on its command."""
    shop = Shop(path, *options, port=port)
    try:
        yield shop
    finally:
        shop.stop()
