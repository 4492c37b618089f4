"""Calls an effect or compensation as the orchestrator does: one call, one client, the real shop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

import httpx2
from pydantic import BaseModel

from saga import Call, Undo
from tests.http.calling import opening

A = TypeVar("A", bound=BaseModel)
R = TypeVar("R", bound="BaseModel | None")
Answer = TypeVar("Answer")


class Served(Protocol):
    """The shop, or any other server."""

    url: str


def key_of(run: str, step: str) -> str:
    return f"i1/{run}/{step}/-@1"


def made(
    server: Served, do: Callable[[Call[A]], Awaitable[Answer]], args: A, *, run: str, step: str
) -> Answer:
    """What `do` answers when called for this step of this run."""

    def call(client: httpx2.AsyncClient) -> Call[A]:
        return Call(
            args=args,
            key=key_of(run, step),
            digest=f"sha256:{run}/{step}",
            run_id=run,
            step=step,
            attempt=1,
            deadline=datetime.now(UTC) + timedelta(seconds=60),
            resources=(client,),
        )

    return _with_client(server, do, call)


def undone(
    server: Served,
    do: Callable[[Undo[A, R]], Awaitable[Answer]],
    args: A,
    receipt: R,
    *,
    run: str,
    step: str,
) -> Answer:
    """What `do` answers when called to take this step of this run back."""

    def call(client: httpx2.AsyncClient) -> Undo[A, R]:
        return Undo(
            args=args,
            receipt=receipt,
            of_key=key_of(run, step),
            key=f"{key_of(run, step)}/undo@1",
            digest=f"sha256:{run}/{step}/undo",
            run_id=run,
            step=step,
            attempt=1,
            deadline=datetime.now(UTC) + timedelta(seconds=60),
            resources=(client,),
        )

    return _with_client(server, do, call)


def _with_client(
    server: Served,
    do: Callable[[Any], Awaitable[Answer]],
    call: Callable[[httpx2.AsyncClient], Any],
) -> Answer:
    async def main() -> Answer:
        async with opening(server.url) as client:
            return await do(call(client))

    return asyncio.run(main())
