"""Idempotency keys: where an action belongs, in a text that the provider keeps.

`{instance}/{run}/{step}[#{item}]/{target}@{version}[~{generation}][/undo@{version}[~{generation}]]`

Rules:

* Two actions never share a key: every part has an alphabet without the signs between the parts, and
  a key that is not of this form is refused here.
* A key is made once, stored in the intent, and never derived again.
* One that is too long for the provider becomes `{start}={32 hex digits}`: a start to read, and half
  of the SHA-256 of the whole. `=` stands in no other key.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from saga.definition.canonical import BadJson, canonical

__all__ = [
    "KEY_LEAST",
    "KEY_MAX",
    "forward_key",
    "item_name",
    "place_of",
    "target_hash",
    "undo_key",
]

KEY_MAX = 255
KEY_LEAST = 36  # a few characters to read, a sign and the hash

_ID = r"[A-Za-z0-9._:-]+"
_LIFE = r"@[1-9][0-9]*(~[1-9][0-9]*)?"
_FORWARD = re.compile(rf"{_ID}/{_ID}/{_ID}(#{_ID})?/(-|[0-9a-f]{{16}}){_LIFE}")
_SHORT = re.compile(r"[A-Za-z0-9._:/#@~-]*=[0-9a-f]{32}")
_HASH_LENGTH = 32
_NAME_MAX = 64  # of an item, as of a step


def target_hash(values: Sequence[Any]) -> str:
    """The part of a key for the target: 16 hex digits over its values, `-` for no target.

    `values` is plain JSON, in the order of the effect's `target`. Raises `ValueError` for text that
    is not in Unicode normal form C: the same word in another form would be another target.
    """
    if not values:
        return "-"
    for index, value in enumerate(values):
        _ensure_normal(value, f"[{index}]")
    return hashlib.sha256(canonical(list(values)).encode()).hexdigest()[:16]


def forward_key(  # noqa: PLR0917 - the parts in the order in which they stand in the key
    instance: str,
    run_id: str,
    step: str,
    item: str | None,
    target: str,
    version: int,
    generation: int,
    key_max: int = KEY_MAX,
) -> str:
    """The key of a forward action. `target` is a `target_hash`, `version` that of the effect.

    `generation` counts from 1. Raises `ValueError` for a part that no key can hold.
    """
    key = f"{instance}/{run_id}/{place_of(step, item)}/{target}{_life(version, generation)}"
    if not _FORWARD.fullmatch(key):
        raise ValueError(f"no key can be made of {key!a}")
    return _within(key, key_max)


def item_name(value: object) -> str:
    """What names an item of a list in keys and on pages, from the value that its `key` has.

    A whole number or an id stands for itself; other text (an address, a sentence) becomes 32 hex
    digits of its SHA-256, so that no key holds it. Raises `ValueError` for anything else.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value == "":
        raise ValueError("it is empty")
    if not isinstance(value, str):
        raise ValueError("it is neither text nor a whole number")  # noqa: TRY004  a fault of data
    if len(value) <= _NAME_MAX and re.fullmatch(_ID, value):
        return value
    return hashlib.sha256(value.encode()).hexdigest()[:_HASH_LENGTH]


def place_of(step: str, item: str | None) -> str:
    """A step, or one item of it, as it stands in keys and on pages."""
    return step if item is None else f"{step}#{item}"


def undo_key(forward: str, version: int, generation: int, key_max: int = KEY_MAX) -> str:
    """The key of the undo of the action with the key `forward`.

    `version` and `generation` are the undo's own. Raises `ValueError` if `forward` is no such key.
    """
    if not (_FORWARD.fullmatch(forward) or _SHORT.fullmatch(forward)):
        raise ValueError(f"{forward!a} is not the key of a forward action")
    return _within(f"{forward}/undo{_life(version, generation)}", key_max)


def _life(version: int, generation: int) -> str:
    if version < 1 or generation < 1:
        raise ValueError("version and generation of a key count from 1")
    return f"@{version}" if generation == 1 else f"@{version}~{generation}"


def _within(key: str, key_max: int) -> str:
    if key_max < KEY_LEAST:
        raise ValueError(f"a key of at most {key_max} characters is not safe from collisions")
    longest = min(key_max, KEY_MAX)
    if len(key) <= longest:
        return key
    start = key[: longest - _HASH_LENGTH - 1].replace("=", "~")
    return f"{start}={hashlib.sha256(key.encode()).hexdigest()[:_HASH_LENGTH]}"


def _ensure_normal(value: Any, path: str) -> None:
    if isinstance(value, str) and not unicodedata.is_normalized("NFC", value):
        raise BadJson("a target in another form than Unicode NFC", path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            _ensure_normal(item, f"{path}[{index}]")
    if isinstance(value, dict):
        for key, item in value.items():
            _ensure_normal(key, path)
            _ensure_normal(item, path)
