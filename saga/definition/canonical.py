"""Plain JSON, strictly: reading it, refusing what is not, and its one canonical text.

Rules:

* Plain means exactly `None`, `bool`, `int`, `float`, `str`, `list` and `dict` with `str` keys. No
  tuples, no subclasses, no `default=str`: what is stored is what was meant.
* The canonical text is RFC 8785 with one extension, whole integers of any size. Only what is
  digested is canonicalised.
* A message names the JSON path and never the value, since a value may be a secret.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from json.encoder import encode_basestring
from typing import Any, NoReturn

__all__ = ["DEPTH_MAX", "BadJson", "canonical", "digest", "ensure_plain", "strict_loads"]

DEPTH_MAX = 64

# CPython refuses to turn longer integers into text and back, because it takes quadratic time.
_INTEGER_LIMIT = 10**4300
_SMALL = 2**63
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class BadJson(ValueError):
    """Something that is not plain JSON. `path` says where (`items[2].price`), `reason` why."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason

    def under(self, parent: str | int) -> BadJson:
        """The same error seen from one level further up."""
        step = f"[{parent}]" if isinstance(parent, int) else _readable(parent)
        dot = "." if self.path and not self.path.startswith("[") else ""
        return BadJson(self.reason, f"{step}{dot}{self.path}")


def canonical(value: object, *, depth_max: int = DEPTH_MAX) -> str:
    """The canonical JSON text of a plain value: RFC 8785, integers in full.

    Equal values have equal texts, in every process and every version. Raises `BadJson` for what is
    not plain JSON: other types, non-finite numbers, lone surrogates, nesting deeper than 64
    (`depth_max`, for what wraps plain values).
    """
    if not _is_simple(value, depth_max) and _survey(value, depth_max, refuse_nul=False):
        return _write(value)
    return _ENCODER.encode(value)


def digest(value: object, *, depth_max: int = DEPTH_MAX) -> str:
    """`sha256:` and the 64 hex digits of the SHA-256 of the canonical text."""
    return "sha256:" + hashlib.sha256(canonical(value, depth_max=depth_max).encode()).hexdigest()


def ensure_plain(value: object) -> None:
    """Raise `BadJson` unless `value` is plain JSON that both databases store as it is.

    Stricter than `canonical`: U+0000 is refused, because PostgreSQL refuses it and SQLite
    miscounts it.
    """
    if not _is_simple(value, DEPTH_MAX):
        _survey(value, DEPTH_MAX, refuse_nul=True)


def strict_loads(text: str | bytes, *, path: str = "", depth_max: int = DEPTH_MAX) -> Any:
    """Read JSON text, refusing everything that two readers could understand differently.

    Refused with `BadJson`: duplicate keys, NaN and infinities (`1e400` too), lone surrogates,
    U+0000, a byte order mark, bytes that are not UTF-8, nesting deeper than 64 (`depth_max`, for
    what wraps plain values), text after the end. `path` stands in front of the path that the error
    names.
    """
    try:
        text = _decoded(text, depth_max)
        value = json.loads(
            text, object_pairs_hook=_members, parse_float=_number, parse_constant=_constant
        )
        # Raw text of valid UTF-8 holds no surrogate, and json refuses a raw U+0000: only an
        # escape can bring either in.
        if "\\u" in text:
            _survey(value, depth_max, refuse_nul=True)
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
        _ensure_text(text)
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


def _is_simple(value: Any, depth: int) -> bool:
    """An object of ASCII text without U+0000, small integers, booleans, nulls and such objects.

    Nearly everything is, it is plain JSON, and telling so costs a fifth of a survey.
    """
    if type(value) is not dict or depth == 0:
        return False
    for key, item in value.items():
        if type(key) is not str or not key.isascii() or "\0" in key:
            return False
        kind = type(item)
        if kind is str:
            if not item.isascii() or "\0" in item:
                return False
        elif kind is int:
            if not -_SMALL < item < _SMALL:
                return False
        elif item is not None and kind is not bool and not _is_simple(item, depth - 1):
            return False
    return True


def _survey(value: Any, depth: int, *, refuse_nul: bool) -> bool:
    """Refuse what is not plain JSON. True if only `_write` can put it in canonical form."""
    kind = type(value)
    if kind in _SCALARS:
        return _survey_scalar(value, refuse_nul=refuse_nul)
    if kind is not dict and kind is not list:
        raise BadJson(f"{kind.__qualname__} is not plain JSON")
    if depth == 0:
        raise BadJson(f"nested deeper than {DEPTH_MAX}")
    slow = False
    for key, item in value.items() if kind is dict else enumerate(value):
        try:
            if kind is dict:
                slow |= _survey_key(key, refuse_nul=refuse_nul)
            slow |= _survey(item, depth - 1, refuse_nul=refuse_nul)
        except BadJson as error:
            raise error.under(key) from None
    return slow


def _survey_scalar(value: Any, *, refuse_nul: bool) -> bool:
    if isinstance(value, str):
        _ensure_text(value, refuse_nul=refuse_nul)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadJson("not a finite number")
        return True
    elif isinstance(value, int) and not -_INTEGER_LIMIT < value < _INTEGER_LIMIT:
        raise BadJson("an integer of more than 4300 digits")
    return False


def _survey_key(key: Any, *, refuse_nul: bool) -> bool:
    if type(key) is not str:
        raise BadJson(f"a key is {type(key).__qualname__}, not str")
    _ensure_text(key, refuse_nul=refuse_nul)
    # RFC 8785 sorts by UTF-16 code unit. That differs from Python's order by code point only
    # where a key leaves the basic plane.
    return not key.isascii() and max(key) > "\uffff"


def _ensure_text(text: str, *, refuse_nul: bool = False) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadJson("text with a lone surrogate") from None
    if refuse_nul and "\0" in text:
        raise BadJson("text with U+0000")


def _write(value: Any) -> str:
    """The canonical text of a value that `_survey` has accepted."""
    if isinstance(value, dict):
        ordered = sorted(value, key=_code_units)
        return "{" + ",".join(f"{encode_basestring(k)}:{_write(value[k])}" for k in ordered) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, float):
        return _ecmascript(value)
    return json.dumps(value, ensure_ascii=False)


def _code_units(key: str) -> bytes:
    return key.encode("utf-16-be")


def _ecmascript(number: float) -> str:
    """A finite float as ECMAScript writes it: `1e+21`, `0.000001`, `1e-7`, never `-0` or `1.0`."""
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # Position of the decimal point, counted from the first significant digit.
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        head = digits[0] + (f".{digits[1:]}" if count > 1 else "")
        text = f"{head}e{point - 1:+d}"
    return text if number > 0 else "-" + text


def _readable(key: object) -> str:
    """A key for an error message: short, printable, never a control character."""
    text = key if isinstance(key, str) else repr(key)
    if text.isidentifier() and len(text) <= 64:
        return text
    return ascii(text[:64])
