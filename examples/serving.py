"""JSON over HTTP in a process of its own: the part of a provider that no example is about."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

__all__ = ["Answer", "Request", "serve"]

Request: TypeAlias = BaseHTTPRequestHandler  # its path, headers and rfile
Answer: TypeAlias = tuple[int, dict[str, Any]]  # the status, and the body


def serve(
    get: Callable[[Request], Answer], post: Callable[[Request], Answer], port: int, *, tied: bool
) -> None:
    """Print `{"url", "pid"}` and serve 127.0.0.1 until SIGTERM, or until `tied` stdin is closed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else every answer costs 40 ms

        def do_GET(self) -> None:
            self._answer(*get(self))

        def do_POST(self) -> None:
            self._answer(*post(self))

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            text = json.dumps(body).encode()
            with suppress(ConnectionError):  # whoever asked is gone
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its own name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print(json.dumps({"url": url, "pid": os.getpid()}), flush=True)
    if tied:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever has started it
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()
