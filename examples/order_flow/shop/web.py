"""The shop as an HTTP process: the services, and beside them the levers for whoever tests with it.

    POST /holds /releases /charges /refunds /shipments /cancellations     `Idempotency-Key` required
    GET  the same with ?key=     what became of it: 200 receipt, 202 in progress, 404 nothing
    GET  /ledger                 what landed: [{key, run_id, step, of_key, at}] in landing order
    GET  /effects                the same with service, kind, digest, receipt
    POST /rules  GET /rules  DELETE /rules       the rule book
    GET  /held?run_id=&wait=     what is held now     POST /release {id, run_id, key, place}

A request says for whom it is in `Saga-Run`, `Saga-Step`, `Saga-Of-Key` and `Saga-Digest`; the shop
believes it, writes it beside the effect and decides nothing by it except which rule fits.

The only way to close a connection without an answer is its transport, which ASGI does not show:
`_Connection` hands it to the app.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from examples.order_flow.shop.desk import Desk
from examples.order_flow.shop.holds import HangUp
from examples.order_flow.shop.ledger import Answer, Asked, brief
from examples.order_flow.shop.rules import Rule
from examples.order_flow.shop.services import SERVICES

__all__ = ["ShopServer", "Web"]

_BODY_MAX = 64 * 1024


class _NoAnswer(Response):
    """Nothing comes back: the connection is closed, or stays open and silent."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__()
        self.silent = silent

    async def __call__(self, scope: Scope, receive: Receive, _send: Send) -> None:
        if not self.silent:
            scope["shop.transport"].abort()
        while (await receive())["type"] != "http.disconnect":
            pass


class _Promised(Response):
    """Sends what it has; where the length promises more, the connection breaks off there."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        more = int(self.headers["content-length"]) > len(self.body)
        await send({"type": "http.response.start", **start})
        await send({"type": "http.response.body", "body": self.body, "more_body": more})


class Web:
    """The endpoints around one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.app = Starlette(
            routes=[
                *(Route(path, self.service, methods=["GET", "POST"]) for path in SERVICES),
                Route("/rules", self.rules, methods=["GET", "POST", "DELETE"]),
                Route("/held", self.held),
                Route("/release", self.release, methods=["POST"]),
                Route("/ledger", self.ledger),
                Route("/effects", self.effects),
            ]
        )

    async def service(self, request: Request) -> Response:
        asked = await _asked(request)
        if isinstance(asked, Answer):
            return _response(asked)
        serve = self.desk.get if asked.method == "GET" else self.desk.post
        try:
            return _response(await serve(asked))
        except HangUp as hang_up:
            return _NoAnswer(silent=hang_up.silent)

    async def rules(self, request: Request) -> Response:
        book = self.desk.book
        if request.method == "POST":
            try:
                rule = Rule.model_validate_json(await request.body())
            except ValidationError as error:
                return JSONResponse({"error": str(error)}, 400)
            return JSONResponse({"id": book.add(rule)}, 201)
        if request.method == "DELETE":
            book.clear()
        return JSONResponse(book.entries())

    async def held(self, request: Request) -> Response:
        query = request.query_params
        wait = float(query.get("wait", 0))
        return JSONResponse(await self.desk.holds.shown(run_id=query.get("run_id"), wait=wait))

    async def release(self, request: Request) -> Response:
        wanted = json.loads(await request.body() or "{}")
        return JSONResponse({"released": self.desk.holds.release(wanted)})

    async def ledger(self, _request: Request) -> Response:
        return JSONResponse([brief(effect) for effect in self.desk.ledger.effects()])

    async def effects(self, _request: Request) -> Response:
        return JSONResponse(self.desk.ledger.effects())


async def _asked(request: Request) -> Asked | Answer:
    """Read the request, or say what is wrong with it."""
    get = request.method == "GET"
    key = request.query_params.get("key") if get else request.headers.get("idempotency-key")
    if not key:
        return Answer.error(400, "idempotency_key_missing")
    if len(key) > 255 or not key.isascii() or not key.isprintable():
        return Answer.error(400, "idempotency_key_invalid")
    body: Any = None
    if not get:
        raw = await request.body()
        if len(raw) > _BODY_MAX:
            return Answer.error(413, "body_too_large")
        try:
            body = json.loads(raw)
        except ValueError:
            return Answer.error(400, "body_not_json")
        if not isinstance(body, dict):
            return Answer.error(400, "body_not_an_object")
    path = request.url.path
    text = json.dumps([request.method, path, body], sort_keys=True)
    return Asked(
        method="GET" if get else "POST",
        path=path,
        key=key,
        run_id=request.headers.get("saga-run", ""),
        step=request.headers.get("saga-step", ""),
        of_key=request.headers.get("saga-of-key"),
        intent_digest=request.headers.get("saga-digest"),
        body=body,
        digest="sha256:" + hashlib.sha256(text.encode()).hexdigest(),
    )


def _response(answer: Answer) -> Response:
    headers = {"Content-Type": "application/json"} | dict(answer.headers)
    return _Promised(answer.body, answer.status, headers)


class _Connection(H11Protocol):
    """A connection whose requests can reach its transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        served: Callable[..., Any] = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scope["shop.transport"] = transport
            await served(scope, receive, send)

        self.app = app


class ShopServer(uvicorn.Server):
    """Serves one desk on a socket. SIGTERM and SIGINT end it with code 0, whatever is held."""

    def __init__(self, desk: Desk, listening: Callable[[], None]) -> None:
        config = uvicorn.Config(
            Web(desk).app,
            http=_Connection,
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="critical",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=75,  # longer than clients do: no request meets a closing end
        )
        super().__init__(config)
        self.desk, self.listening = desk, listening

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not uvicorn's way, which raises the signal again at the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        yield

    def stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.desk.holds.close()
        await super().shutdown(sockets)
