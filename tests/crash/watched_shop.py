"""The shop with a doorman, who writes down each request as it comes in.

The ledger says what landed and when; for what was only asked for, the doorman's book is the
evidence: a line a request, `time method key`. `WatchedShop` starts it, `python -m` runs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from examples.order_flow.shop import Shop
from examples.order_flow.shop import __main__ as program
from examples.order_flow.shop.desk import Desk
from examples.order_flow.shop.ledger import Answer, Asked

__all__ = ["WatchedShop", "main"]

_ROOT = Path(__file__).resolve().parents[2]
_BOOK = "SHOP_ARRIVALS"


class WatchedShop(Shop):
    """A running shop whose arrivals are in the file `book`."""

    def __init__(self, path: Path, *options: str) -> None:
        self.book = path.with_name(path.name + "-arrivals")
        super().__init__(path, *options)

    def arrivals(self, method: str = "POST") -> dict[str, list[float]]:
        """By key, when its requests came in (unix seconds)."""
        found: dict[str, list[float]] = defaultdict(list)
        for line in self.book.read_text().splitlines():
            at, how, key = line.split(" ", 2)
            if how == method:
                found[key].append(float(at))
        return found

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, "--tied", "--ledger", str(self.path)]
        process = subprocess.Popen(
            [*command, "--port", str(port), *self._options],
            cwd=_ROOT,
            env=os.environ | {_BOOK: str(self.book)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None  # it is a pipe
        said = json.loads(process.stdout.readline())
        self.url, self.port, self.pid = said["url"], said["port"], said["pid"]
        return process


class _WatchedDesk(Desk):
    """Serves as the desk does, after the doorman has made his note."""

    _book = -1

    async def post(self, asked: Asked) -> Answer:
        self._note(asked)
        return await super().post(asked)

    async def get(self, asked: Asked) -> Answer:
        self._note(asked)
        return await super().get(asked)

    def _note(self, asked: Asked) -> None:
        os.write(self._book, f"{time.time()} {asked.method} {asked.key}\n".encode())


def main() -> None:
    """Be the shop, with options as on its own command."""
    _WatchedDesk._book = os.open(
        os.environ[_BOOK], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
    )
    vars(program)["Desk"] = _WatchedDesk
    program.main()


if __name__ == "__main__":
    main()
