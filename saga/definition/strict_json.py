"""Reading JSON strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from saga.definition.canonical import DEPTH_MAX, BadJson, ensure_plain, ensure_text

__all__ = ["strict_loads"]

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def strict_loads(text: str | bytes, *, path: str = "", depth_max: int = DEPTH_MAX) -> Any:
    """Read JSON text, refusing everything that two readers could understand differently.

    Refused with `BadJson`: duplicate keys, NaN and infinities (`1e400` too), lone surrogates,
    U+0000, a byte order mark, bytes that are not UTF-8, nesting deeper than 64 (`depth_max`, for
    what wraps plain values), text after the end. `path` stands in front of the path that the error
    names.
    """
    try:
        text = _decoded(text, depth_max)
        value = _DECODER.decode(text)
        # Raw text of valid UTF-8 holds no surrogate, and json refuses a raw U+0000: only an
        # escape can bring either in.
        if "\\u" in text:
            ensure_plain(value, depth_max=depth_max)
    except json.JSONDecodeError as error:
        # Without `from None` the whole document would ride along in the traceback.
        where = f"line {error.lineno} column {error.colno}"
        raise BadJson(f"{error.msg} at {where}", path) from None
    except _Suspect:
        raise _prefixed(_locate(text), path) from None
    except BadJson as error:
        raise _prefixed(error, path) from None
    except ValueError:
        raise BadJson("an integer of more than 4300 digits", path) from None
    return value


def _decoded(text: str | bytes, depth_max: int) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            raise BadJson("not UTF-8") from None
    elif not text.isascii():
        ensure_text(text)
    if text.startswith("\ufeff"):
        raise BadJson("starts with a byte order mark")
    if "\0" in text:
        raise BadJson("holds U+0000 (is it UTF-16?)")
    if text.count("[") + text.count("{") > depth_max:
        _ensure_depth(text, depth_max)
    return text


def _ensure_depth(text: str, depth_max: int) -> None:
    """Look at the brackets before json does: its recursion ends in a RecursionError."""
    depth = 0
    for match in _TOKEN.finditer(text):
        found = match[0]
        if found in "[{":
            depth += 1
            if depth > depth_max:
                raise BadJson(f"nested deeper than {depth_max}")
        elif found in "]}":
            depth -= 1


class _Suspect(Exception):
    """The fast reader met something wrong and does not know where: the slow one looks again."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Suspect
    return members


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Suspect
    return number


def _constant(_: str) -> NoReturn:
    raise _Suspect


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_number, parse_constant=_constant
)


class _Members(list[tuple[str, Any]]):
    """An object as read, its duplicate keys still there."""


def _locate(text: str | bytes) -> BadJson:
    """Read again without judging, then walk to the first thing that is wrong."""
    value = json.loads(text, object_pairs_hook=_Members, parse_constant=float)
    return _first_fault(value) or BadJson("not strict JSON")


def _first_fault(value: Any) -> BadJson | None:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for key, item in value:
            if key in seen:
                return BadJson("this key stands there twice").under(key)
            seen.add(key)
            if fault := _first_fault(item):
                return fault.under(key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if fault := _first_fault(item):
                return fault.under(index)
    elif isinstance(value, float) and not math.isfinite(value):
        return BadJson("not a finite number")
    return None


def _prefixed(error: BadJson, path: str) -> BadJson:
    return error.under(path) if path else error
