"""Values that their JSON would not show as they are, found in the Python objects themselves.

In JSON an infinity may become `null`, two keys one, and a time without an offset plain text: after
that nobody can tell.
"""

from __future__ import annotations

import dataclasses
import math
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel

from saga.definition.canonical import BadJson

__all__ = ["ensure_exact"]

# Larger exponents fit a few characters and make arithmetic with them take for ever.
_EXPONENT_MAX = 1000
_EXACT = frozenset({str, int, bool, type(None)})


def ensure_exact(value: Any, *, zoned: bool = False) -> None:
    """Raise `BadJson` for a number that is not finite or out of all bounds, anywhere inside.

    With `zoned` also for a time without an offset.
    """
    if isinstance(value, BaseModel):
        for name, item in value.__dict__.items():
            if type(item) not in _EXACT:
                _ensure_under(name, item, zoned=zoned)
        if value.__pydantic_extra__:
            _ensure_members({**value.__dict__, **value.__pydantic_extra__}, zoned=zoned)
    elif isinstance(value, dict):
        _ensure_members(value, zoned=zoned)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _ensure_under(index, item, zoned=zoned)
    elif dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        _ensure_members({name: getattr(value, name) for name in names}, zoned=zoned)
    elif isinstance(value, Enum):
        ensure_exact(value.value, zoned=zoned)
    else:
        _ensure_exact_scalar(value, zoned=zoned)


def _ensure_exact_scalar(value: object, *, zoned: bool) -> None:
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _EXPONENT_MAX:
            raise BadJson("not a finite decimal of a sensible size")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadJson("not a finite number")
    elif zoned and isinstance(value, datetime) and value.utcoffset() is None:
        raise BadJson("a time without an offset")


def _ensure_members(members: dict[Any, Any], *, zoned: bool) -> None:
    names: set[str] = set()
    for name, item in members.items():
        if (text := str(name)) in names:
            raise BadJson("two keys that are one in JSON").under(text)
        names.add(text)
        _ensure_under(text, item, zoned=zoned)


def _ensure_under(place: str | int, item: Any, *, zoned: bool) -> None:
    if type(item) in _EXACT:
        return
    try:
        ensure_exact(item, zoned=zoned)
    except BadJson as error:
        raise error.under(place) from None
