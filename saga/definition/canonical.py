"""Plain JSON: refusing what is not, and its one canonical text. `strict_json` reads it.

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
from json.encoder import encode_basestring
from typing import Any

__all__ = ["DEPTH_MAX", "BadJson", "canonical", "digest", "ensure_plain", "ensure_text"]

DEPTH_MAX = 64

# CPython refuses to turn longer integers into text and back, because it takes quadratic time.
_INTEGER_LIMIT = 10**4300
_SMALL = 2**63
# What it is given has been looked through, so it holds no circle.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False
)
_SCALARS = frozenset({str, int, float, bool, type(None)})


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


def ensure_plain(value: object, *, depth_max: int = DEPTH_MAX) -> None:
    """Raise `BadJson` unless `value` is plain JSON that both databases store as it is.

    Stricter than `canonical`: U+0000 is refused, because PostgreSQL refuses it and SQLite
    miscounts it.
    """
    if not _is_simple(value, depth_max):
        _survey(value, depth_max, refuse_nul=True)


def _is_simple(value: Any, depth: int) -> bool:
    """An object of ASCII text without U+0000, small integers, booleans, nulls and such objects.

    Or a list of such text, as a target is. Nearly everything is one of them, it is plain JSON, and
    telling so costs a fifth of a survey.
    """
    if type(value) is not dict or depth == 0:
        return type(value) is list and depth > 0 and all(map(_is_simple_text, value))
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


def _is_simple_text(value: Any) -> bool:
    return type(value) is str and value.isascii() and "\0" not in value


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
        ensure_text(value, refuse_nul=refuse_nul)
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
    ensure_text(key, refuse_nul=refuse_nul)
    # RFC 8785 sorts by UTF-16 code unit. That differs from Python's order by code point only
    # where a key leaves the basic plane.
    return not key.isascii() and max(key) > "\uffff"


def ensure_text(text: str, *, refuse_nul: bool = False) -> None:
    """Raise `BadJson` for text that no UTF-8 can hold, with `refuse_nul` also for U+0000."""
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
