"""Amounts: numbers that are counted against a budget, exact from their text to their sum.

An amount has at most 21 digits before the point and 18 after it, so that sums of any number of them
stay short. A float is none: nobody can say what it stands for.
"""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from typing import Any

__all__ = ["amount", "shown", "total"]

_BEFORE, _AFTER = 21, 18
_TEXT_MAX = 64
_EXACT = Context(prec=100)  # of sums of amounts, however many


def amount(value: Any) -> Decimal | None:
    """The amount that an int, a Decimal or the text of one stands for; `None` if that is none."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    if isinstance(value, str) and len(value) > _TEXT_MAX:
        return None
    if isinstance(value, int) and abs(value) >= 10**_BEFORE:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_AFTER:
        return None
    return number if number == 0 or number.adjusted() < _BEFORE else None


def total(one: Decimal, other: Decimal, times: int = 1) -> Decimal:
    """`one` and `times` the other, exactly."""
    return _EXACT.add(one, _EXACT.multiply(other, Decimal(times)))


def shown(number: Decimal) -> str:
    """An amount as people write it: never with an exponent."""
    return f"{number:f}"
