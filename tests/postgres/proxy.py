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
import tempfile
import threading
from collections import Counter, deque
from pathlib import Path
from typing import Self

__all__ = ["WAYS", "Proxy"]

WAYS = ("done", "late", "lost")
_SOCKET = ".s.PGSQL.5432"
_COMMIT = b"COMMIT\0"
_LATEST = 0.3  # seconds that a late COMMIT takes
_GIVEN_UP = 5.0  # seconds for the answer to it


class Proxy:
    """Runs on a thread of its own, from `with` on. `folder`: where the server's socket is."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="saga-proxy-"))
        self.cuts: Counter[str] = Counter()  # those that are through, by their way
        self.armed: deque[str] = deque()
        self.chance = chance
        self.upstream = str(folder / _SOCKET)
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the proxy does not listen"
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        shutil.rmtree(self.folder)

    def through(self, url: str) -> str:
        """The URL of the same database, by this way."""
        before, _, place = url.partition("?host=")
        assert Path(place) == Path(self.upstream).parent, url
        return f"{before}?host={self.folder}"

    def cut(self, way: str) -> None:
        """Cut the connection of the next COMMIT."""
        self.armed.append(way)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listen = self._loop.create_unix_server(lambda: _Client(self), self.folder / _SOCKET)
        server = self._loop.run_until_complete(listen)
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class _Client(asyncio.Protocol):
    """The side of whoever connects."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
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
                lambda: _Server(self), self._proxy.upstream
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
            self._proxy.armed.appendleft(self._way)
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
            if self._held is None and self._proxy.armed and _is_commit(message):
                self._held, self._way = bytearray(), self._proxy.armed.popleft()
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
                await asyncio.sleep(self._proxy.chance.uniform(0, _LATEST))
                server.send(self._held)
                await server.answered()
        server.close()
        self._proxy.cuts[way] += 1


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
