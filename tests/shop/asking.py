"""Plain requests to a running shop, as any client of it would send them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from examples.order_flow.shop import Shop

HOLD = {"order_id": "o-1", "sku": "teapot", "quantity": 2}
CHARGE = {"order_id": "o-1", "amount": "49.90", "payment_method": "pm_card"}
SHIPMENT = {"order_id": "o-1", "hold_id": "hold_1", "address": "1 Main Street"}


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])


def post(
    shop: Shop,
    path: str,
    body: object,
    *,
    key: str | None,
    run: str = "",
    step: str = "",
    of_key: str | None = None,
    timeout: float = 10,
) -> Reply:
    headers = {"Saga-Run": run, "Saga-Step": step, "Saga-Digest": f"sha256:of {key}"}
    headers |= {} if key is None else {"Idempotency-Key": key}
    headers |= {} if of_key is None else {"Saga-Of-Key": of_key}
    text = body if isinstance(body, str) else json.dumps(body)
    return _exchange(shop, "POST", path, text, headers, timeout)


@contextmanager
def posted(shop: Shop, path: str, body: object, *, run: str) -> Iterator[None]:
    """A request whose client waits for the length of the block, then is gone without an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", shop.port, timeout=10)
    try:
        headers = {"Idempotency-Key": run, "Saga-Run": run}
        connection.request("POST", path, json.dumps(body), headers)
        yield
    finally:
        connection.close()


def find(shop: Shop, path: str, *, key: str, run: str = "", timeout: float = 10) -> Reply:
    return _exchange(
        shop, "GET", f"{path}?{urlencode({'key': key})}", None, {"Saga-Run": run}, timeout
    )


def _exchange(
    shop: Shop, method: str, path: str, body: str | None, headers: dict[str, str], timeout: float
) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", shop.port, timeout=timeout)
    try:
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        named = {name.lower(): value for name, value in reply.getheaders()}
        return Reply(reply.status, reply.read(), named)
    finally:
        connection.close()


class Meanwhile(Protocol):
    """Runs a request in another thread."""

    def __call__(self, *args: Any, **named: Any) -> Future[Reply]: ...


@contextmanager
def meanwhile() -> Iterator[Meanwhile]:
    """`post` in the background: `with meanwhile() as posting: answer = posting(shop, …)`."""
    with ThreadPoolExecutor() as threads:
        yield lambda *args, **named: threads.submit(post, *args, **named)
