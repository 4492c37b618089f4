"""Row by row: what `http.post` makes of a reply, from a server that really says it."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta

import pytest

from saga import http
from saga.definition.answers import NotSent, Refused, Unknown
from saga.errors import Conflict
from tests.http.calling import call, post
from tests.http.raw_server import Say, drip, raw_server, reply, reset, say, stay_silent

RECEIPT = b'{"charge_id": "charge_1"}'


class CardDeclined(Exception):
    """A customer's own type, named in `refused=`."""


@pytest.mark.parametrize("status", [200, 201])
@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/hal+json",
    ],
)
def test_a_success_with_a_json_object_is_that_object(status: int, kind: str) -> None:
    with raw_server(reply(status, RECEIPT, kind=kind)) as server:
        assert post(server.url) == {"charge_id": "charge_1"}


def test_a_success_without_content_is_an_empty_object() -> None:
    with raw_server(reply(204, kind=None)) as server:
        assert post(server.url) == {}


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 408, 410, 413, 415, 451, 499])
def test_a_client_error_is_a_refusal(status: int) -> None:
    with raw_server(reply(status, b'{"error": {"code": "no"}}')) as server:
        with pytest.raises(Refused) as refused:
            post(server.url)
        assert refused.value.reason == f"{status} no"
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_has_not_done_it(status: int) -> None:
    with (
        raw_server(reply(status, b"come again", kind="text/plain", Retry_After="7")) as server,
        pytest.raises(NotSent) as not_sent,
    ):
        post(server.url)
    assert not_sent.value.reason == str(status)
    assert not_sent.value.retry_after == timedelta(seconds=7)


def test_in_flight_is_unknown_and_says_so() -> None:
    body = b'{"error": {"code": "idempotency_key_in_use"}}'
    with raw_server(reply(409, body)) as server, pytest.raises(Unknown) as unknown:
        post(server.url)
    assert unknown.value.reason == "409 idempotency_key_in_use: still in progress under this key"


@pytest.mark.parametrize("body", [b"", b"{}", b"in use", b'{"error": "busy_elsewhere"}'])
def test_a_conflict_that_does_not_explain_itself_counts_as_in_flight(body: bytes) -> None:
    with raw_server(reply(409, body)) as server, pytest.raises(Unknown):
        post(server.url)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, b""),
        (422, b'{"error": {"code": "anything"}}'),
        (409, b'{"error": {"code": "idempotency_key_reused"}}'),
        (409, b'{"code": "idempotency_key_mismatch"}'),
        (400, b'{"error": "idempotency_error"}'),
    ],
)
def test_another_body_under_the_key_is_a_conflict(status: int, body: bytes) -> None:
    with raw_server(reply(status, body)) as server, pytest.raises(Conflict, match=f"^{status}"):
        post(server.url)


@pytest.mark.parametrize("status", [202, 203, 205, 206, 226, 300, 304, 500, 501, 502, 504, 599])
def test_everything_else_is_unknown(status: int) -> None:
    with raw_server(reply(status, RECEIPT)) as server:
        with pytest.raises(Unknown, match=f"^{status}"):
            post(server.url)
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_unknown_and_never_followed(status: int) -> None:
    moved = reply(status, Location="/elsewhere")
    with raw_server(moved, reply(200, RECEIPT)) as server:
        with pytest.raises(Unknown, match=f"^{status}$"):
            post(server.url, follow_redirects=True)
        assert len(server.requests) == 1


NO_RECEIPT = {
    "broken json": reply(200, b'{"charge_id": '),
    "json with text after it": reply(200, RECEIPT + b" and more"),
    "a key twice": reply(200, b'{"charge_id": "a", "charge_id": "b"}'),
    "not a number": reply(200, b'{"amount": NaN}'),
    "a number without end": reply(200, b'{"amount": 1e400}'),
    "half a character": reply(200, b'{"charge_id": "\\ud800"}'),
    "latin-1": reply(200, '{"charge_id": "é"}'.encode("latin-1")),
    "utf-16": reply(200, RECEIPT.decode().encode("utf-16")),
    "a byte order mark": reply(200, b"\xef\xbb\xbf" + RECEIPT),
    "a nul": reply(200, b'{"charge_id": "a\\u0000"}'),
    "an abyss": reply(200, b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "an array": reply(200, b"[" + RECEIPT + b"]"),
    "a text": reply(200, b'"charge_1"'),
    "null": reply(200, b"null"),
    "nothing": reply(200, b""),
    "nothing and no length": say(b"HTTP/1.1 200 OK\r\n\r\n"),
    "html": reply(200, b"<html>charged</html>", kind="text/html"),
    "json declared as text": reply(200, RECEIPT, kind="text/plain"),
    "no content type": reply(200, RECEIPT, kind=None),
    "javascript": reply(200, RECEIPT, kind="application/javascript"),
    "json lines": reply(200, RECEIPT, kind="application/jsonl"),
    "packed": reply(200, gzip.compress(RECEIPT), Content_Encoding="gzip"),
    "declared as packed": reply(200, RECEIPT, Content_Encoding="br"),
    "a packed bomb": reply(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
    "too long": reply(200, RECEIPT + b" " * http.BODY_MAX),
    "broken off": reply(200, RECEIPT, length=1000),
    "a chunk broken off": say(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n19\r\n" + RECEIPT
    ),
    "no http": say(b"220 mail.example.org ESMTP\r\n"),
    "no status": say(b"HTTP/1.1 \r\n\r\n"),
    "half a head": say(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "an endless head": say(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000),
    "a bad length": say(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
    "two lengths": say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "another protocol": say(
        b"HTTP/1.1 101 Switching\r\nUpgrade: chat\r\nConnection: upgrade\r\n\r\n"
    ),
    "the end": say(),
    "a reset": reset,
}


@pytest.mark.parametrize("script", NO_RECEIPT.values(), ids=NO_RECEIPT)
def test_a_reply_that_proves_nothing_is_unknown(script: Say) -> None:
    with raw_server(script) as server:
        with pytest.raises(Unknown) as unknown:
            post(server.url)
        assert len(server.requests) == 1
    assert len(unknown.value.reason) < 100


@pytest.mark.parametrize("status", [402, 503])
def test_a_refusal_that_breaks_off_is_unknown(status: int) -> None:
    with raw_server(reply(status, b"{", length=100)) as server, pytest.raises(Unknown):
        post(server.url)


def test_a_refusal_with_a_long_page_is_still_a_refusal() -> None:
    page = b"<html>" + b"no" * http.BODY_MAX
    with raw_server(reply(403, page, kind="text/html")) as server, pytest.raises(Refused) as no:
        post(server.url)
    assert no.value.reason == "403"


def test_silence_until_the_read_time_out_is_unknown() -> None:
    with raw_server(stay_silent) as server, pytest.raises(Unknown, match="ReadTimeout"):
        post(server.url, timeout=0.05)


def test_a_reply_that_drips_is_cut_off_at_the_deadline() -> None:
    slow = drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000, every=0.01)
    with raw_server(slow) as server, pytest.raises(Unknown, match="before the deadline"):
        post(server.url, one=call(seconds=0.2))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"error": {"code": "card_declined", "message": "4242 4242"}}, "card_declined"),
        ({"error": "card_declined"}, "card_declined"),
        ({"code": "Card-Declined.v2"}, "Card-Declined.v2"),
        ({"error": {"code": "sorry, 4242 4242 has no money"}}, ""),
        ({"error": {"code": "x" * 65}}, ""),
        ({"error": {"code": "line\nbreak"}}, ""),
        ({"error": {"code": 17}}, ""),
        ({"error": ["card_declined"]}, ""),
        (["card_declined"], ""),
    ],
)
def test_a_reason_has_the_status_and_one_short_word(body: object, code: str) -> None:
    with raw_server(reply(402, json.dumps(body).encode())) as server:
        with pytest.raises(Refused) as refused:
            post(server.url)
        assert refused.value.reason == f"402 {code}".strip()


def test_what_the_provider_says_beyond_that_is_nowhere_in_the_error() -> None:
    secret = b'{"error": {"code": "no", "message": "sk_live_1"}, "card": "4242424242424242"}'
    with raw_server(reply(400, secret)) as server, pytest.raises(Refused) as refused:
        post(server.url)
    with raw_server(say(b"4242424242424242\r\n")) as server, pytest.raises(Unknown) as unknown:
        post(server.url)
    for error in (refused.value, unknown.value):
        assert "4242" not in repr(error)
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize(
    ("status", "body", "replies", "result"),
    [
        (402, b"{}", {402: CardDeclined}, CardDeclined),
        (409, b"{}", {409: Refused}, Refused),
        (409, b'{"error": "out_of_stock"}', {"out_of_stock": Refused}, Refused),
        (409, b'{"error": "key_in_use"}', {"out_of_stock": Refused}, Unknown),
        (422, b'{"error": "invalid"}', {"invalid": Refused}, Refused),
        (422, b'{"error": "other"}', {"invalid": Refused}, Conflict),
        (402, b'{"error": "try_again"}', {402: Refused, "try_again": NotSent}, NotSent),
        (503, b"", {503: Unknown}, Unknown),
        (500, b"", {500: NotSent}, NotSent),
        (400, b'{"error": "idempotency_error"}', {"idempotency_error": Refused}, Refused),
    ],
)
def test_an_effect_may_read_a_reply_its_own_way(
    status: int, body: bytes, replies: http.PostReplies, result: type[Exception]
) -> None:
    with raw_server(reply(status, body)) as server, pytest.raises(result) as raised:
        post(server.url, replies=replies)
    assert type(raised.value) is result


def test_an_effect_may_take_an_accepted_for_done() -> None:
    with raw_server(reply(202, RECEIPT)) as server:
        assert post(server.url, replies={202: dict}) == {"charge_id": "charge_1"}


def test_a_word_in_a_success_is_no_error_code() -> None:
    with raw_server(reply(200, b'{"code": "voucher"}')) as server:
        assert post(server.url, replies={"voucher": Refused}) == {"code": "voucher"}
