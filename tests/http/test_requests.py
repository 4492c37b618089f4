"""What leaves: the body as given, the key, and for whom; never more than one request."""

from __future__ import annotations

import asyncio
import json

import pytest

from saga import http
from saga.definition.answers import Unknown
from tests.http.calling import KEY, Charge, call, find, opening, post, undo
from tests.http.raw_server import RawServer, raw_server, reply


def test_a_post_carries_its_key_and_for_whom_it_is() -> None:
    with raw_server(reply(200, b"{}")) as server:
        post(server.url)
        assert server.head | {
            "idempotency-key": KEY,
            "saga-run": "order-1",
            "saga-step": "charge",
            "saga-digest": "sha256:1",
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
        } == dict(server.head)
        assert "saga-of-key" not in server.head


def test_an_undo_also_says_which_key_it_takes_back() -> None:
    with raw_server(reply(200, b"{}")) as server:
        post(server.url, one=undo())
        assert server.head["idempotency-key"] == f"{KEY}/undo@1"
        assert server.head["saga-of-key"] == KEY


def test_a_model_or_a_mapping_is_sent_as_json() -> None:
    bodies = []
    for given in (Charge(), {"order_id": "order-1", "amount": "49.90"}):
        with raw_server(reply(200, b"{}")) as server:
            post(server.url, json=given)
            bodies.append(json.loads(server.body))
    assert bodies == [{"order_id": "order-1", "amount": "49.90"}] * 2


def test_headers_of_the_effect_are_added_but_cannot_change_the_key() -> None:
    extra = {"Authorization": "Bearer t", "idempotency-key": "mine", "SAGA-RUN": "another"}
    with raw_server(reply(200, b"{}")) as server:
        post(server.url, headers=extra)
        assert server.head["authorization"] == "Bearer t"
        assert server.head["idempotency-key"] == KEY
        assert server.head["saga-run"] == "order-1"
        assert server.requests[0].lower().count(b"idempotency-key") == 1


def test_a_question_escapes_its_key_and_sends_no_idempotency_key() -> None:
    with raw_server(reply(200, b"{}")) as server:
        find(server.url)
        assert server.requests[0].split()[:2] == [
            b"GET",
            b"/charges?key=i1%2Forder-1%2Fcharge%237%2F0123456789abcdef%401~2",
        ]
        assert "idempotency-key" not in server.head
        assert server.head["saga-run"] == "order-1"


def test_a_question_may_have_its_address_whole() -> None:
    async def main(server: RawServer) -> None:
        async with opening() as client:
            url = f"{server.url}/charges/charge_1?full=1"
            assert await http.find(call(), url, client=client) == {}

    with raw_server(reply(200, b"{}")) as server:
        asyncio.run(main(server))
        assert server.requests[0].startswith(b"GET /charges/charge_1?full=1 ")


def test_a_key_cannot_smuggle_a_header_in() -> None:
    with raw_server(reply(200, b"{}")) as server:
        with pytest.raises(Unknown, match="LocalProtocolError"):
            post(server.url, one=call(key="line\r\nX-Injected: yes"))
        assert server.requests == []
