"""`python -m examples.order_flow.shop --ledger FILE`: runs the shop until SIGTERM.

Prints one JSON line, `{"url": …, "port": …, "pid": …}`, when it listens. It listens on 127.0.0.1
and nowhere else. With `--tied` it also ends when its standard input is closed, so that a test run
that is killed leaves no shop behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from examples.order_flow.shop.desk import Desk
from examples.order_flow.shop.ledger import Ledger
from examples.order_flow.shop.rules import Book, Chaos
from examples.order_flow.shop.web import ShopServer

__all__ = ["main"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m examples.order_flow.shop",
        description="Inventory, payments and shipping as one HTTP process on 127.0.0.1.",
    )
    add = parser.add_argument
    add("--ledger", type=Path, required=True, help="SQLite file; made if missing")
    add("--port", type=int, default=0, help="0 (default): any free one")
    add("--key-life", type=float, default=86400.0, help="seconds until a key is forgotten")
    add("--visible-after", type=float, default=0.0, help="seconds until a query sees an effect")
    add("--chaos", metavar="SEED", help="misbehave by chance, repeatable by this seed")
    add("--chaos-rate", type=float, default=0.2, help="how many of all requests (default 0.2)")
    add("--chaos-refuse", type=float, default=0.0, help="how many forward actions are refused")
    add("--tied", action="store_true", help="end when standard input is closed")
    return parser.parse_args()


async def _serve(options: argparse.Namespace) -> None:
    chaos = None
    if options.chaos is not None:
        chaos = Chaos(options.chaos, options.chaos_rate, options.chaos_refuse)
    ledger = Ledger(options.ledger)
    desk = Desk(
        ledger,
        Book(chaos),
        key_life=options.key_life,
        visible_after=options.visible_after,
    )
    # The protocol is named because asyncio turns off Nagle's delays only where it sees TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    port = listener.getsockname()[1]

    def listening() -> None:
        said = {"url": f"http://127.0.0.1:{port}", "port": port, "pid": os.getpid()}
        print(json.dumps(said), flush=True)

    server = ShopServer(desk, listening)
    if options.tied:
        _stop_with_stdin(server.stop)
    await server.serve(sockets=[listener])
    ledger.close()


def _stop_with_stdin(stop: Callable[[], None]) -> None:
    """Call `stop` in the loop at the end of standard input."""
    loop = asyncio.get_running_loop()

    def watch() -> None:
        while os.read(0, 1024):  # not `sys.stdin`: its lock would outlive the interpreter
            pass
        loop.call_soon_threadsafe(stop)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    try:
        asyncio.run(_serve(_arguments()))
    except (OSError, sqlite3.Error) as error:
        sys.exit(f"the shop cannot start: {error}")


if __name__ == "__main__":
    main()
