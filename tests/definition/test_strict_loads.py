"""Reading JSON: what two readers could understand differently is refused, with its path."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga.definition.canonical import BadJson
from saga.definition.strict_json import strict_loads

REFUSED: list[tuple[str | bytes, str]] = [
    ('{"a": 1, "a": 2}', "a: this key stands there twice"),
    ('{"x": [0, {"b": {"c": 1, "c": 1}}]}', "x[1].b.c: this key stands there twice"),
    ('{"a": 1, "\\u0061": 2}', "a: this key stands there twice"),
    ("NaN", "not a finite number"),
    ('{"a": [1, Infinity]}', "a[1]: not a finite number"),
    ("[-Infinity]", "[0]: not a finite number"),
    ('{"price": 1e400}', "price: not a finite number"),
    ("-1e999", "not a finite number"),
    ('{"a": "\\ud800"}', "a: text with a lone surrogate"),
    ('{"\\udc00": 1}', "text with a lone surrogate"),
    ('"\ud800"', "text with a lone surrogate"),
    ('{"a": ["\\u0000"]}', "a[0]: text with U+0000"),
    ('{"a\\u0000": 1}', "text with U+0000"),
    ("\ufeff{}", "byte order mark"),
    (b"\xef\xbb\xbf{}", "byte order mark"),
    ("{}".encode("utf-16"), "not UTF-8"),
    ("{}".encode("utf-16-le"), "U+0000"),
    ("{}".encode("utf-32-le"), "U+0000"),
    (b'"\xff"', "not UTF-8"),
    (b'"\xed\xa0\x80"', "not UTF-8"),
    ("[" * 65 + "]" * 65, "nested deeper than 64"),
    ('{"a":' * 100_000, "nested deeper than 64"),
    ("[" * 100_000, "nested deeper than 64"),
    ("{} {}", "Extra data at line 1 column 4"),
    ("[1,]", "Illegal trailing comma"),
    ("", "Expecting value"),
    (" ", "Expecting value"),
    ("01", "Extra data"),
    ("{'a': 1}", "Expecting property name"),
    ("// no\n1", "Expecting value"),
    ('"a\nb"', "Invalid control character"),
    ("+1", "Expecting value"),
    ("1" * 4301, "an integer of more than 4300 digits"),
    ('["' + '\\"' * 200_000, "Unterminated string"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_is_refused(text: str | bytes, reason: str) -> None:
    began = time.perf_counter()
    with pytest.raises(BadJson) as caught:
        strict_loads(text)
    # `Illegal trailing comma` is the newer wording of Python 3.13.
    expected = {reason, "Expecting value"} if "trailing comma" in reason else {reason}
    assert any(one in str(caught.value) for one in expected), str(caught.value)
    assert time.perf_counter() - began < 0.5


def test_the_error_holds_no_part_of_the_document() -> None:
    with pytest.raises(BadJson) as caught:
        strict_loads('{"card": "4242 4242" oops}')
    assert "4242" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_what_wraps_plain_values_may_nest_deeper() -> None:
    text = "[" * 70 + '"\\u0041"' + "]" * 70
    assert strict_loads(text, depth_max=70)
    with pytest.raises(BadJson, match="deeper than 69"):
        strict_loads(text, depth_max=69)


def test_the_given_path_stands_in_front() -> None:
    with pytest.raises(BadJson) as caught:
        strict_loads('{"a": NaN}', path="receipt")
    assert caught.value.path == "receipt.a"
    with pytest.raises(BadJson) as caught:
        strict_loads("", path="receipt")
    assert str(caught.value).startswith("receipt: ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '{"a": [1, -0, 0.5, "\\ud83d\\ude00", null, true]}',
            {"a": [1, 0, 0.5, "\U0001f600", None, True]},
        ),
        (b'"\xe2\x82\xac"', "\u20ac"),
        ("1" + "0" * 40, 10**40),
        ("[" * 64 + "]" * 64, None),
        ('"' + "[" * 5000 + '"', "[" * 5000),
        ('["\\\\", "[[[", "\\"["]', ["\\", "[[[", '"[']),
        ('"\\\\u0000"', "\\u0000"),
        ("1e308", 1e308),
        ("[" + "[{}]," * 200 + "[]]", [[{}]] * 200 + [[]]),
    ],
)
def test_is_taken(text: str | bytes, value: Any) -> None:
    read = strict_loads(text)
    if value is not None:
        assert read == value


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner
            )
        ),
        max_leaves=20,
    ),
    st.booleans(),
)
def test_whatever_json_writes_is_read_back(value: Any, ascii_only: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert strict_loads(text) == value
    assert strict_loads(text.encode()) == value


@given(st.text() | st.binary())
def test_anything_else_is_refused_in_one_way(text: str | bytes) -> None:
    """Never a RecursionError, a UnicodeError or an answer that json itself would not give."""
    try:
        value = strict_loads(text)
    except BadJson:
        return
    assert value == json.loads(text)
