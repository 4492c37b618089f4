"""Row by row: what `http.find` makes of a reply to a probe."""

from __future__ import annotations

import pytest

from saga import http
from saga.definition.answers import Absent, CannotSay, InProgress
from tests.http.calling import call, find
from tests.http.raw_server import Say, raw_server, reply, reset, say, stay_silent
from tests.http.test_connections import nobody_there


def test_what_is_found_is_the_json_object() -> None:
    with raw_server(reply(200, b'{"charge_id": "charge_1"}')) as server:
        assert find(server.url) == {"charge_id": "charge_1"}


def test_not_found_is_absent() -> None:
    with raw_server(reply(404, b'{"error": "no_such_charge"}')) as server:
        assert find(server.url) == Absent()


@pytest.mark.parametrize("status", [202, 409])
def test_what_is_under_way_is_in_progress(status: int) -> None:
    with raw_server(reply(status, b'{"status": "in_progress"}')) as server:
        assert find(server.url) == InProgress()


@pytest.mark.parametrize(
    "status",
    [201, 204, 206, 301, 302, 304, 400, 401, 403, 405, 408, 410, 422, 429, 500, 502, 503, 504],
)
def test_every_other_status_cannot_say_and_gives_its_reason(status: int) -> None:
    with raw_server(reply(status, b"{}" if status != 204 else b"", Location="/")) as server:
        assert find(server.url, follow_redirects=True) == CannotSay(str(status))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (reply(200, b"[]"), "200, but the body is not a JSON object"),
        (reply(200, b'{"a": 1, "a": 2}'), "200, but the body is not strict JSON"),
        (reply(200, b"<html>", kind="text/html"), "200, but the body is not declared as JSON"),
        (reply(200, b"{", length=9), "no whole reply: RemoteProtocolError"),
        (say(), "no whole reply: RemoteProtocolError"),
        (reset, "no whole reply: ReadError"),
    ],
    ids=["array", "key twice", "html", "broken off", "end", "reset"],
)
def test_a_reply_that_proves_nothing_cannot_say(script: Say, reason: str) -> None:
    with raw_server(script) as server:
        assert find(server.url) == CannotSay(reason)


def test_nobody_to_ask_cannot_say() -> None:
    assert find(nobody_there()) == CannotSay("cannot connect: ConnectError")


def test_silence_cannot_say() -> None:
    with raw_server(stay_silent) as server:
        assert find(server.url, timeout=0.05) == CannotSay("no whole reply: ReadTimeout")


def test_after_its_deadline_nobody_is_asked() -> None:
    with raw_server(reply(404)) as server:
        answer = find(server.url, one=call(seconds=-1))
        assert isinstance(answer, CannotSay)
        assert server.requests == []


@pytest.mark.parametrize(
    ("status", "body", "replies", "answer"),
    [
        (404, b"", {404: CannotSay, "no_such_key": Absent}, CannotSay("404")),
        (404, b'{"error": "no_such_key"}', {404: CannotSay, "no_such_key": Absent}, Absent()),
        (404, b'{"error": "no_such_page"}', {404: CannotSay}, CannotSay("404 no_such_page")),
        (410, b"", {410: Absent}, Absent()),
        (204, b"", {204: Absent}, Absent()),
        (202, b'{"id": "1"}', {202: dict}, {"id": "1"}),
        (425, b"", {425: InProgress}, InProgress()),
        (200, b"{}", {200: CannotSay}, CannotSay("200")),
    ],
)
def test_a_probe_may_read_a_reply_its_own_way(
    status: int, body: bytes, replies: http.FindReplies, answer: object
) -> None:
    with raw_server(reply(status, body)) as server:
        assert find(server.url, replies=replies) == answer
