"""The canonical text: RFC 8785 by its own published vectors, and integers of any size."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saga.definition.canonical import BadJson, canonical, digest, ensure_plain
from saga.definition.strict_json import strict_loads

NUMBERS = Path(__file__).with_name("es6_numbers.txt")

# The six documents of the reference test suite of RFC 8785, input and output.
DOCUMENTS: dict[str, Any] = json.loads(Path(__file__).with_name("rfc8785.json").read_text())
DOCUMENTS.pop("source")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_published_documents_have_their_published_text(name: str) -> None:
    document = DOCUMENTS[name]
    assert canonical(strict_loads(document["input"])) == document["output"]


def number_vectors() -> Iterator[float]:
    """The sequence of the reference generator: named doubles, the smallest normals, then chance."""
    lines = [line for line in NUMBERS.read_text().splitlines() if not line.startswith("#")]
    for bits in " ".join(lines).split():
        yield struct.unpack(">d", bytes.fromhex(bits))[0]
    for i in range(2000):
        yield struct.unpack(">d", struct.pack(">Q", 0x0010000000000000 + i))[0]
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        for number in struct.unpack("<4d", block):
            if number not in (0.0, float("inf"), float("-inf")) and number == number:  # noqa: PLR0124
                yield number


def test_a_hundred_thousand_numbers_are_written_as_published() -> None:
    """The checksums over the first lines of `hex-ieee,expected` stand in the reference's README."""
    expected = {
        1_000: "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
        10_000: "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
        100_000: "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
    }
    hashed = hashlib.sha256()
    for count, number in enumerate(number_vectors(), start=1):
        bits = struct.unpack(">Q", struct.pack(">d", number))[0]
        hashed.update(f"{bits:x},{canonical(number)}\n".encode())
        if count in expected:
            assert hashed.hexdigest() == expected[count], count
        if count == 100_000:
            break


def test_whole_integers_of_any_size_stay_whole() -> None:
    assert canonical(10**40) == "1" + "0" * 40
    assert canonical([-(2**64), 2**53 + 1]) == "[-18446744073709551616,9007199254740993]"
    assert canonical({"n": 10**25, "f": 1e25}) == '{"f":1e+25,"n":10000000000000000000000000}'


def test_equal_numbers_have_one_text_and_true_is_no_number() -> None:
    assert canonical([1, 1.0, -0.0, True]) == "[1,1,0,true]"


def test_keys_are_sorted_by_utf_16_code_unit_also_without_floats() -> None:
    """U+1F602 sorts before U+FB33 in UTF-16 and after it by code point."""
    assert canonical({"\ufb33": 1, "\U0001f602": 2}) == '{"\U0001f602":2,"\ufb33":1}'


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        ("\ud800", "text with a lone surrogate"),
        ((1, 2), "tuple is not plain JSON"),
        ({1: 2}, "[1]: a key is int, not str"),
        ({"\ud800": 1}, "lone surrogate"),
        (b"x", "bytes is not plain JSON"),
        ({"a": [{"b": {1}}]}, "a[0].b: set is not plain JSON"),
        ([0, [float("nan")]], "[1][0]: not a finite number"),
        (10**4300, "an integer of more than 4300 digits"),
        (IntEnum("Size", {"S": 1}).S, "Size is not plain JSON"),  # type: ignore[attr-defined]
        (StrEnum("Word", {"W": "w"}).W, "Word is not plain JSON"),  # type: ignore[attr-defined]
    ],
    ids=range(12),
)
def test_what_is_not_plain_json_is_refused_with_its_path(value: object, reason: str) -> None:
    with pytest.raises(BadJson) as caught:
        canonical(value)
    assert reason in str(caught.value)
    with pytest.raises(BadJson):
        ensure_plain(value)


def test_the_integer_limit_is_exact() -> None:
    longest = 10**4300 - 1
    assert canonical(longest) == "9" * 4300
    assert strict_loads("9" * 4300) == longest


def test_nesting_of_64_is_taken_and_of_65_refused() -> None:
    value: Any = 1
    for _ in range(64):
        value = [value]
    assert canonical(value) == "[" * 64 + "1" + "]" * 64
    with pytest.raises(BadJson, match="deeper than 64"):
        canonical([value])


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(BadJson, match="deeper than 64"):
        canonical(value)


def test_nul_has_a_canonical_text_and_is_not_stored() -> None:
    assert canonical("\0") == '"\\u0000"'
    with pytest.raises(BadJson, match=r"a\[0\]: text with U\+0000"):
        ensure_plain({"a": ["x\0"]})


def test_the_digest_names_its_algorithm() -> None:
    assert digest({}) == "sha256:" + hashlib.sha256(b"{}").hexdigest()


def test_an_odd_key_in_an_error_is_short_and_printable() -> None:
    with pytest.raises(BadJson) as caught:
        ensure_plain({"\x1b[31m" + "x" * 500: float("nan")})
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 120


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


@given(plain_values)
def test_canonical_text_is_a_fixed_point(value: Any) -> None:
    text = canonical(value)
    assert canonical(json.loads(text)) == text


@given(plain_values)
def test_a_shuffled_copy_has_the_same_text(value: Any) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: turned(item) for key, item in reversed(part.items())}
        return [turned(item) for item in part] if isinstance(part, list) else part

    assert canonical(turned(value)) == canonical(value)


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_as_itself(number: float) -> None:
    assert float(canonical(number)) == number
