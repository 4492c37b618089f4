"""A way to the server on which commits get lost: a socket that passes on what comes, until told.

Told to, it cuts a connection between a COMMIT and its answer, in one of three ways:

  done   the server has committed, and its answer is not passed on
  late   the COMMIT is on the way while whoever sent it is cut off and may look already
  lost   the COMMIT never arrives; the server ends the transaction

Whoever sent it sees the same each time. It reads the messages of the client's side only as far as
it must: https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

__all__ = ["WAYS", "Proxy"]

WAYS = ("done", "late", "lost")
_SOCKET = ".s.PGSQL.5432"
_COMMIT = b"COMMIT\0"
_LATEST = 0.3  # seconds that a late COMMIT takes
_GIVEN_UP = 5.0  # seconds for the answer to it


class Proxy:
    """Runs as a process of its own while `with` lasts; it ends when we do.

    `server`: the folder of the server's socket.
    """

    def __init__(self, server: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="saga-proxy-"))
        self.cuts: Counter[str] = Counter()  # those that are through, by their way
        self._server = server
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, server / _SOCKET, self.folder / _SOCKET],
            cwd=Path(__file__).resolve().parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        assert self._process.stdout is not None  # they are pipes
        assert self._process.stdout.readline(), "the proxy does not listen"
        self._reader.start()
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._reader.join(10)
        shutil.rmtree(self.folder)

    def through(self, url: str) -> str:
        """The URL of the same database, by this way."""
        before, _, place = url.partition("?host=")
        assert Path(place) == self._server, url
        return f"{before}?host={self.folder}"

    def cut(self, way: str) -> None:
        """Cut the connection of the next COMMIT."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{way}\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.cuts[line.strip()] += 1


@dataclass
class _Orders:
    """What the process is to do: pass on to `upstream`, and cut so many COMMITs, in these ways."""

    upstream: str
    armed: deque[str] = field(default_factory=deque)


async def _serve(upstream: str, listen: str) -> None:
    """Be the proxy until standard input ends."""
    loop, orders, lines = asyncio.get_running_loop(), _Orders(upstream), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    await loop.create_unix_server(lambda: _Client(orders), listen)
    _say("ready")
    while line := await lines.readline():
        orders.armed.append(line.decode().strip())


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


class _Client(asyncio.Protocol):
    """The side of whoever connects."""

    def __init__(self, orders: _Orders) -> None:
        self._orders = orders
        self._transport: asyncio.Transport | None = None
        self._server: _Server | None = None
        self._waiting = bytearray()  # until the server is connected, or a message is whole
        self._begun = False  # the first message has no type
        self._held: bytearray | None = None  # from a COMMIT on that is to be cut
        self._way: str | None = None  # how
        self._cutting = False
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._start(self._connect())

    def _start(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, server = await loop.create_unix_connection(
                lambda: _Server(self), self._orders.upstream
            )
        except OSError:
            self.close()
            return
        self._server = server
        if self._transport is None:
            server.close()
        self._pass_on()

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        self._pass_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._cutting:
            return
        if self._way is not None:  # it died before its COMMIT was whole: another one's turn
            self._orders.armed.appendleft(self._way)
        if self._server is not None:
            self._server.close()

    def answer(self, data: bytes) -> None:
        """From the server."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _pass_on(self) -> None:
        if self._server is None:
            return
        passed = bytearray()
        while (message := self._message()) is not None:
            if self._held is None and self._orders.armed and _is_commit(message):
                self._held, self._way = bytearray(), self._orders.armed.popleft()
            if self._held is None:
                passed += message
                continue
            self._held += message
            if message[:1] in b"QS" and self._way is not None:  # the server answers at its end
                self._cutting = True
                self._start(self._cut(self._server, self._way, bytes(passed)))
                return
        self._server.send(passed)

    def _message(self) -> bytes | None:
        """The next one that is whole."""
        start = int(self._begun)
        if len(self._waiting) < start + 4:
            return None
        length = start + int.from_bytes(self._waiting[start : start + 4], "big")
        if len(self._waiting) < length:
            return None
        message = bytes(self._waiting[:length])
        del self._waiting[:length]
        self._begun = True
        return message

    async def _cut(self, server: _Server, way: str, before: bytes) -> None:
        """See the module."""
        assert self._held is not None
        server.silent = True
        server.send(before)
        if way == "done":
            server.send(self._held)
            await server.answered()
            self.close()
        else:
            self.close()
            if way == "late":
                await asyncio.sleep(random.uniform(0, _LATEST))
                server.send(self._held)
                await server.answered()
        server.close()
        _say(way)


class _Server(asyncio.Protocol):
    """The side of the server."""

    def __init__(self, client: _Client) -> None:
        self._client = client
        self._transport: asyncio.Transport | None = None
        self.silent = False  # its answers are not passed on
        self._said = b""
        self._through = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self.silent:
            self._client.answer(data)
            return
        self._said += data
        if _COMMIT in self._said:
            self._through.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._through.set()
        self._client.close()

    def send(self, data: bytes | bytearray) -> None:
        if self._transport is not None and data:
            self._transport.write(bytes(data))

    async def answered(self) -> None:
        """Wait until it has committed, or is gone."""
        try:
            await asyncio.wait_for(self._through.wait(), _GIVEN_UP)
        except TimeoutError:
            return

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _is_commit(message: bytes) -> bool:
    """A query, or a statement to parse, that says COMMIT."""
    return message[:1] in b"QP" and message.endswith((_COMMIT, _COMMIT + b"\0\0"))


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
