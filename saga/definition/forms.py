"""Whether JSON has the fields and types of a stored normal form, as far as that can be said.

Whoever has the stored specification alone can tell a person at once what a receipt or a payload
lacks. The model itself, with its validators, is asked where the value is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

__all__ = ["misfit"]

_PLAIN: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
    "decimal": (str, int),
    "datetime": (str,),
}


def misfit(forms: Mapping[str, Any], value: object) -> str | None:
    """What does not fit, as the end of a sentence; `None` if nothing is seen."""
    if not isinstance(value, dict):
        return f"is {type(value).__name__}, and has the fields {', '.join(forms)}"
    if odd := sorted(value.keys() - forms.keys()):
        return f"has no field {', '.join(map(repr, odd))}; it has {', '.join(forms)}"
    for name, given in value.items():
        form = forms[name]
        if isinstance(form, str) and not _fits(form, given):
            return f"has {name!r} as {type(given).__name__}, and that is no {form}"
    return None


def _fits(form: str, value: object) -> bool:
    kinds = _PLAIN.get(form)
    if kinds is None:
        return True  # left to the model
    if not isinstance(value, kinds) or (isinstance(value, bool) and form != "bool"):
        return False
    if form != "decimal":
        return True
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False
