"""Keys: their form, and that two actions never share one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga.definition.keys import KEY_LEAST, forward_key, target_hash, undo_key
from saga.definition.names import check_id
from saga.errors import BadInput

ids = st.text("AZaz09._:-", min_size=1, max_size=12).filter(lambda text: text.strip("."))
long_ids = st.text("az0._:-", min_size=1, max_size=128).filter(lambda text: text.strip("."))
targets = st.lists(st.text(max_size=3).filter(str.isascii) | st.integers(), max_size=2).map(
    target_hash
)
small = st.integers(min_value=1, max_value=12)


def key(
    *,
    instance: str = "db1",
    run: str = "order-1",
    step: str = "charge",
    item: str | None = None,
    target: str = "-",
    version: int = 1,
    generation: int = 1,
    key_max: int = 255,
) -> str:
    return forward_key(instance, run, step, item, target, version, generation, key_max)


def test_a_key_reads_as_the_design_writes_it() -> None:
    assert key() == "db1/order-1/charge/-@1"
    assert key(item="anna", target="0123456789abcdef", version=2, generation=3) == (
        "db1/order-1/charge#anna/0123456789abcdef@2~3"
    )
    assert undo_key(key(), 1, 1) == "db1/order-1/charge/-@1/undo@1"
    assert undo_key(key(generation=2), 4, 2) == "db1/order-1/charge/-@1~2/undo@4~2"


@given(
    st.lists(
        st.tuples(ids, ids, ids, st.none() | ids, targets, small, small),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_two_actions_never_share_a_key(actions: list[tuple[Any, ...]]) -> None:
    first, second = (forward_key(*action) for action in actions)
    assert first != second
    assert undo_key(first, 1, 1) != undo_key(second, 1, 1)


@given(
    st.lists(st.tuples(long_ids, long_ids, ids), min_size=2, max_size=2, unique=True),
    st.integers(min_value=KEY_LEAST, max_value=300),
)
def test_nor_do_two_that_are_too_long(parts: list[tuple[str, str, str]], key_max: int) -> None:
    keys = []
    for instance, run, step in parts:
        forward = key(instance=instance, run=run, step=step, key_max=key_max)
        keys += [forward, *(undo_key(forward, 1, n, key_max) for n in (1, 2))]
    assert len(set(keys)) == len(keys)
    assert all(len(one) <= min(key_max, 255) for one in keys)


def test_a_long_key_is_a_start_to_read_and_a_hash() -> None:
    long = key(run="r" * 128, step="s" * 64, item="i" * 60, key_max=100)
    assert re.fullmatch(r"db1/r{63}=[0-9a-f]{32}", long)
    assert len(long) == 100
    # The undo of a shortened key is again a key that no other can be.
    undo = undo_key(long, 1, 1, key_max=100)
    assert re.fullmatch(r"db1/r{63}=[0-9a-f]{32}", undo)
    assert undo != long
    assert undo_key(long, 1, 1) == f"{long}/undo@1"


def test_a_long_key_differs_where_its_cut_off_end_differs() -> None:
    assert key(run="r" * 128, step="s" * 64, item="i" * 64) != key(
        run="r" * 128, step="s" * 64, item="i" * 63 + "j"
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"run": "a/b"},
        {"run": "a#b"},
        {"run": ""},
        {"run": "a\n"},
        {"step": "a@1"},
        {"step": "a~2"},
        {"item": ""},
        {"item": "a b"},
        {"instance": "\u00e9"},
        {"target": "xyz"},
        {"target": "0123456789ABCDEF"},
        {"target": ""},
        {"version": 0},
        {"generation": 0},
        {"generation": -1},
        {"key_max": 35},
    ],
)
def test_a_part_that_no_key_can_hold_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="key"):
        key(**parts)


@pytest.mark.parametrize("forward", ["", "x", "db1/r/s/-@1/undo@1", "a=b", "db1/r/s/-@1\n"])
def test_only_a_forward_action_has_an_undo_key(forward: str) -> None:
    with pytest.raises(ValueError, match="not the key of a forward action"):
        undo_key(forward, 1, 1)


def test_no_target_is_a_dash_and_targets_are_16_hex_digits() -> None:
    assert target_hash([]) == "-"
    assert re.fullmatch("[0-9a-f]{16}", target_hash(["order-1"]))


def test_targets_differ_in_value_type_and_position() -> None:
    hashes = [
        target_hash(values)
        for values in (["1"], [1], ["1", "2"], ["2", "1"], ["12"], [None], [True], [["1"]], [""])
    ]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("value", ["e\u0301", ["e\u0301"], {"a": "e\u0301"}, {"e\u0301": 1}])
def test_a_target_in_another_form_than_nfc_is_refused(value: Any) -> None:
    """Composed and decomposed are one word for people and two targets here."""
    with pytest.raises(ValueError, match="NFC"):
        target_hash([value])
    assert target_hash(["\u00e9"])


@pytest.mark.parametrize("value", ["\ud800", float("nan")])
def test_a_target_that_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\[0\]"):
        target_hash([value])


@pytest.mark.parametrize("text", ["order-1", "a", "A.b_c:d-9", "x" * 128, "...a"])
def test_an_id_is_letters_digits_and_four_signs(text: str) -> None:
    assert check_id("run id", text, 128) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a b",
        "a/b",
        "../x",
        ".",
        "..",
        "a\n",
        "a\x00",
        "\u00e9",
        "\u0661",
        "a#b",
        "a@b",
        "x" * 129,
        None,
        7,
        b"a",
    ],
)
def test_anything_else_is_bad_input(text: object) -> None:
    with pytest.raises(BadInput, match="the run id") as caught:
        check_id("run id", text, 128)
    assert "1 to 128" in caught.value.remedy
    assert str(caught.value).isprintable()
