"""A server that says any bytes, at any pace, or nothing: what a provider should never do."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Say = Callable[[socket.socket], None]


@dataclass
class RawServer:
    """Answers the n-th connection with the n-th script (the last one again after that)."""

    url: str
    requests: list[bytes] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    @property
    def head(self) -> dict[str, str]:
        """The headers of the only request."""
        (request,) = self.requests
        lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def body(self) -> bytes:
        """The body of the only request."""
        (request,) = self.requests
        return request.partition(b"\r\n\r\n")[2]


def say(*pieces: bytes) -> Say:
    """Send the pieces and close."""

    def script(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return script


def stay_silent(connection: socket.socket) -> None:
    """Say nothing until the client has gone."""
    with contextlib.suppress(OSError):
        connection.recv(1)


def say_then_stay_silent(start: bytes) -> Say:
    def script(connection: socket.socket) -> None:
        connection.sendall(start)
        stay_silent(connection)

    return script


def drip(text: bytes, *, every: float) -> Say:
    """A byte at a time, for as long as the client listens."""
    done = threading.Event()

    def script(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for number in range(len(text)):
                connection.sendall(text[number : number + 1])
                done.wait(every)

    return script


def reset(connection: socket.socket) -> None:
    """Close so that the client gets a reset, not an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reply(
    status: int,
    body: bytes = b"",
    *,
    kind: str | None = "application/json",
    length: int | None = None,
    **headers: str,
) -> Say:
    """A whole reply, with `length` another one than it promises."""
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close"]
    lines += [] if kind is None else [f"Content-Type: {kind}"]
    if status != 204:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return say("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


@contextmanager
def raw_server(*scripts: Say) -> Iterator[RawServer]:
    """A server on a free port for the length of the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=_accept, args=(listener, server, scripts))
        thread.start()
        try:
            yield server
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _accept(listener: socket.socket, server: RawServer, scripts: tuple[Say, ...]) -> None:
    number = 0
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            request = read_request(connection)
            if request:
                server.requests.append(request)
                server.arrived.set()
                scripts[min(number, len(scripts) - 1)](connection)
                number += 1


def read_request(connection: socket.socket) -> bytes:
    """One whole request."""
    request = b""
    while b"\r\n\r\n" not in request:
        piece = connection.recv(65536)
        if not piece:
            return request
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    wanted = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            wanted = int(line.partition(b":")[2])
    while len(body) < wanted and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body
