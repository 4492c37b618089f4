"""How effects speak to the provider: one JSON line each way, over connections that are kept.

A connection carries one request at a time. One whose answer did not come whole is not used again:
the answer of an earlier call would be taken for that of a later one.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

__all__ = ["Counter", "Line", "NoAnswer"]


class NoAnswer(Exception):
    """No whole line came back."""


class Line:
    """The connections of one orchestrator."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def say(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer. Raises `NoAnswer`, and `OSError` where no connection can be had."""
        reader, writer = (
            self._free.pop()
            if self._free
            else await asyncio.open_connection("127.0.0.1", self._port)
        )
        whole = False
        try:
            writer.write(json.dumps(request).encode() + b"\n")
            line = await reader.readline()
            whole = line.endswith(b"\n")
        finally:
            if whole:
                self._free.append((reader, writer))
            else:
                writer.close()
        if not whole:
            raise NoAnswer("the connection was lost")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Give back the connections."""
        for _, writer in self._free:
            writer.close()
        self._free.clear()


class Counter:
    """The counter of the provider, for a person: one question after the other, and the truth."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._file = self._socket.makefile("rb")

    def ask(self, do: str, **facts: Any) -> dict[str, Any]:
        """`look`, `reverse` or `dump`."""
        self._socket.sendall(json.dumps({"do": do, **facts}).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._file.readline())
        return answer

    def close(self) -> None:
        """Leave."""
        self._file.close()
        self._socket.close()
