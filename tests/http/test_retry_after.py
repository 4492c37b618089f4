"""`Retry-After` in seconds or as a date: the past is now, the absurd a day, nonsense nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga import http
from saga.definition.answers import NotSent
from tests.http.calling import post
from tests.http.raw_server import raw_server, reply, say

NOW, DAY = timedelta(0), timedelta(days=1)


def asked_for(value: str) -> object:
    """What comes of this value, through a real reply."""
    with raw_server(reply(429, Retry_After=value)) as server, pytest.raises(NotSent) as not_sent:
        post(server.url)
    return not_sent.value.retry_after


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", NOW),
        ("7", timedelta(seconds=7)),
        ("007", timedelta(seconds=7)),
        ("+7", timedelta(seconds=7)),
        ("7.9", timedelta(seconds=7)),
        ("86400", DAY),
        ("86401", DAY),
        ("1000000000", DAY),
        ("9" * 5000, DAY),
        ("-1", NOW),
        ("-" + "9" * 5000, NOW),
        ("Wed, 21 Oct 2015 07:28:00 GMT", NOW),
        ("Thu, 01 Jan 1970 00:00:00 GMT", NOW),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
        ("Wednesday, 21-Oct-15 07:28:00 GMT", NOW),
        ("Wed Oct 21 07:28:00 2015", NOW),
        ("soon", None),
        ("", None),
        ("1 hour", None),
        ("1e9", None),
        ("0x10", None),
        ("٣", None),
        ("NaN", None),
        ("inf", None),
        ("Wed, 21 Oct", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +" + "9" * 30, None),
        ("120, 60", None),
    ],
)
def test_a_value_becomes_a_wait(value: str, wait: timedelta | None) -> None:
    if value.isascii():
        assert asked_for(value) == wait
    assert http._retry_after(value) == wait


def test_a_date_to_come_is_the_time_until_then() -> None:
    wait = asked_for(format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True))
    assert isinstance(wait, timedelta)
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)


def test_two_values_that_differ_say_nothing() -> None:
    twice = b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n"
    with raw_server(say(twice)) as server, pytest.raises(NotSent) as not_sent:
        post(server.url)
    assert not_sent.value.retry_after is None


def test_a_refusal_read_as_not_sent_waits_too() -> None:
    busy = reply(425, Retry_After="3")
    with raw_server(busy) as server, pytest.raises(NotSent) as not_sent:
        post(server.url, replies={425: NotSent})
    assert not_sent.value.retry_after == timedelta(seconds=3)


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} [\d:]{1,9} .{0,6}"))
def test_whatever_stands_there_the_wait_is_none_or_within_a_day(value: str) -> None:
    wait = http._retry_after(value)
    assert wait is None or NOW <= wait <= http.RETRY_AFTER_LONGEST == DAY
