"""Records: exact when they are written, strict when they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saga.journal.formats import FORMAT
from saga.journal.records import (
    RECORD_LIMIT,
    RecordTooLarge,
    Unwritable,
    json_text,
    read_record,
    write_body,
)
from saga.machine.action_events import Landed
from saga.machine.events import Event, Started
from tests.journal.forging import forge
from tests.journal.tamper import Bench
from tests.journal.world import KEY, nested, opened

Copy = Callable[[str | None], str]


def started(given_input: Any, actor: str | None = None) -> Started:
    return Started(
        run_id="r",
        instance="i",
        tenant="",
        saga="s",
        saga_version=1,
        definition="sha256:0",
        input=given_input,
        deadline_at=None,
        actor=actor,
        resource=None,
    )


def body_of(*events: Event) -> str:
    return write_body(
        "r", 1, at=1.5, fence=0, due=2.0, key_id="", commands=["start"], events=events
    )


# ---- written exactly


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@given(plain)
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_what_is_read(value: Any) -> None:
    """C106: odd key order, 1.0, 1e3, -0, long integers, non-ASCII keys, empty containers."""
    (event,) = read_record(body_of(started(value))).events
    assert isinstance(event, Started)
    assert typed(event.input) == typed(value)
    assert json_text(event.input) == json_text(value)


def typed(value: Any) -> Any:
    """With types, the sign of zero and the order of keys."""
    if isinstance(value, dict):
        return [(key, typed(item)) for key, item in value.items()]
    return [typed(item) for item in value] if isinstance(value, list) else repr(value)


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, -(2**63) - 1, 10**40, 10**4299])
def test_an_integer_keeps_every_digit(number: int) -> None:
    """C055. (Integers of more than 4,300 digits are refused where they come in.)"""
    body = body_of(started({"n": number}))
    assert f'"n":{number}}}' in body
    (event,) = read_record(body).events
    assert isinstance(event, Started)
    assert event.input == {"n": number}


def test_the_deepest_plain_value_can_be_read_again() -> None:
    """64 levels are plain; in a record there are three more around it."""
    for event in (
        started(nested(64)),
        Landed(key="k", attempt=1, receipt=nested(64), source="reply"),
    ):
        assert read_record(body_of(event)).events == (event,)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_what_could_not_be_read_again_is_not_written(text: str) -> None:
    """C057: U+0000 and lone surrogates."""
    with pytest.raises(Unwritable):
        body_of(started({}, actor=text))
    with pytest.raises(Unwritable):
        body_of(started({text: 1}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_not_written(number: float) -> None:
    with pytest.raises(Unwritable):
        body_of(started({"n": number}))


@pytest.mark.parametrize("text", ["\\u0000", "NaN", "-Infinity", "\ufffe", "😀", "\x7f\x01", "é"])
def test_text_that_only_looks_odd_stays_as_it_is(text: str) -> None:
    """C057: the six characters backslash-u0000 are text like any other."""
    (event,) = read_record(body_of(started({text: text}))).events
    assert isinstance(event, Started)
    assert event.input == {text: text}


def test_a_record_has_a_limit() -> None:
    body_of(started("x" * (RECORD_LIMIT - 400)))
    with pytest.raises(RecordTooLarge):
        body_of(started("x" * RECORD_LIMIT))
    with pytest.raises(RecordTooLarge):
        body_of(started("é" * (RECORD_LIMIT // 2)))  # bytes count


# ---- read strictly


BODY = body_of(started({"a": {"b": {"c": 1}}}))
MISTAKES: dict[str, tuple[str, str]] = {
    "a duplicate key": ('"c":1', '"c":1,"c":2'),
    "a duplicate key at the top": ('"seq":1', '"seq":1,"seq":1'),
    "NaN": ('"c":1', '"c":NaN'),
    "infinity": ('"c":1', '"c":Infinity'),
    "a number beyond all bounds": ('"c":1', '"c":1e400'),
    "a lone surrogate": ('"c":1', r'"c":"\ud800"'),
    "U+0000": ('"c":1', r'"c":"\u0000"'),
    "too deep": ('"c":1', '"c":' + "[" * 70 + "]" * 70),
    "a comment": ('"c":1', '"c":/* */1'),
    "single quotes": ('"c":1', "'c':1"),
    "a leading zero": ('"c":1', '"c":01'),
    "too many digits": ('"c":1', '"c":' + "9" * 5000),
    "a field that nobody knows": ('"seq":1', '"seq":1,"approved":true'),
    "a field that nobody knows in an event": ('"tenant":""', '"tenant":"","approved":true'),
    "a missing field": ('"fence":0,', ""),
    "a missing field in an event": ('"deadline_at":null,', ""),
    "fields in another order": ('"tenant":"","saga":"s"', '"saga":"s","tenant":""'),
    "true for a number": ('"seq":1', '"seq":true'),
    "text for a number": ('"saga_version":1', '"saga_version":"1"'),
    "null for a text": ('"definition":"sha256:0"', '"definition":null'),
    "an event that nobody knows": ('"kind":"started"', '"kind":"stopped"'),
    "an event without a name": ('"kind":"started"', '"kind":[]'),
    "a command that is no text": ('"commands":["start"]', '"commands":[1]'),
    "an event that is none": ('"events":[', '"events":[1,'),
    "a format of none": (f'"format":{FORMAT}', '"format":0'),
    "a format that is true": (f'"format":{FORMAT}', '"format":true'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_body_with_one_mistake_is_refused(mistake: str) -> None:
    """C054, C107: never last-wins, never null, never a default, never a field more."""
    old, new = MISTAKES[mistake]
    assert BODY.count(old) == 1
    with pytest.raises(ValueError):  # noqa: PT011  each says its own
        read_record(BODY.replace(old, new))


@pytest.mark.parametrize("body", ["", "null", "[]", "1", BODY[:-1], BODY + " x", "\ufeff" + BODY])
def test_what_is_no_record_is_refused(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  each says its own
        read_record(body)


EDITS: dict[str, tuple[str, str]] = {
    "a duplicate key": ('"seq":1,', '"seq":1,"seq":1,'),
    "a field more": ('"seq":1,', '"seq":1,"approved":true,'),
    "a run of another name": ('"run":"running"', '"run":"finished"'),
    "another time": ('"at":', '"at":1'),
    "another command": ('"commands":["start"]', '"commands":["stop"]'),
    "a negative fence": ('"fence":0', '"fence":-1'),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_strict_reader_stands_behind_the_seal(copy: Copy, edit: str) -> None:
    """Even who has the key cannot make a record that is read in two ways."""
    old, new = EDITS[edit]
    database = opened(copy(KEY))
    bench = Bench(database)

    def first(seq: int, body: str) -> str:
        assert seq > 1 or old in body
        return body.replace(old, new, 1) if seq == 1 else body

    change = forge(bench.cursor, database.keys, "running", first)
    assert bench.verdict(change) is None
    bench.close()
    database.close()


def test_events_that_never_came_from_decide_are_damage_and_no_crash(copy: Copy) -> None:
    """The fold trusts its events. What makes it stumble is damage, whatever it stumbles over."""
    database = opened(copy(None), None)
    bench = Bench(database)
    for old, new in (
        ('"of_key":null', '"of_key":"none"'),
        ('"kind":"sending","key":"', '"kind":"sending","key":"x'),
        ('"step":"flight"', '"step":"flug"'),
        ('"attempt":1', '"attempt":-5'),
    ):
        change = forge(bench.cursor, database.keys, "running", replacing(old, new))
        assert bench.verdict(change) is None, new
    bench.close()
    database.close()


def replacing(old: str, new: str) -> Callable[[int, str], str]:
    return lambda _, body: body.replace(old, new)
