"""Calls as the orchestrator makes them, and one way to put them through `saga.http`."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from pydantic import BaseModel

from saga import http
from saga.definition.answers import Absent, CannotSay, InProgress
from saga.definition.calls import Call, Undo

# Made once: reading all certificates takes longer than a test.
TLS = ssl.create_default_context()

KEY = "i1/order-1/charge#7/0123456789abcdef@1~2"


class Charge(BaseModel):
    order_id: str = "order-1"
    amount: str = "49.90"


class Receipt(BaseModel):
    charge_id: str = "charge_1"


def call(*, seconds: float = 5, key: str = KEY, resources: tuple[object, ...] = ()) -> Call[Charge]:
    return Call(
        args=Charge(),
        key=key,
        digest="sha256:1",
        run_id="order-1",
        step="charge",
        attempt=1,
        deadline=datetime.now(UTC) + timedelta(seconds=seconds),
        resources=resources,
    )


def undo(*, resources: tuple[object, ...] = ()) -> Undo[Charge, Receipt]:
    return Undo(
        args=Charge(),
        receipt=Receipt(),
        of_key=KEY,
        key=f"{KEY}/undo@1",
        digest="sha256:2",
        run_id="order-1",
        step="charge",
        attempt=1,
        deadline=datetime.now(UTC) + timedelta(seconds=5),
        resources=resources,
    )


def opening(url: str = "", **options: Any) -> httpx2.AsyncClient:
    """A client that no proxy of the environment comes between."""
    return httpx2.AsyncClient(base_url=url, verify=TLS, trust_env=False, **options)


def post(
    url: str,
    *,
    one: Call[Any] | None = None,
    json: BaseModel | Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
    replies: http.PostReplies | None = None,
    **client: Any,
) -> dict[str, Any]:
    """`http.post` with a client of its own, whose options are what is left."""

    async def main() -> dict[str, Any]:
        async with opening(url, **client) as opened:
            return await http.post(
                one or call(),
                "/charges",
                json={} if json is None else json,
                client=opened,
                headers=headers,
                replies=replies,
            )

    return asyncio.run(main())


def find(
    url: str,
    *,
    one: Call[Any] | None = None,
    headers: Mapping[str, str] | None = None,
    replies: http.FindReplies | None = None,
    **client: Any,
) -> dict[str, Any] | Absent | InProgress | CannotSay:
    """`http.find` with a client of its own, whose options are what is left."""

    async def main() -> dict[str, Any] | Absent | InProgress | CannotSay:
        async with opening(url, **client) as opened:
            one_ = one or call()
            return await http.find(
                one_,
                "/charges",
                params={"key": one_.key},
                client=opened,
                headers=headers,
                replies=replies,
            )

    return asyncio.run(main())
