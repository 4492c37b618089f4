"""What pydantic found, said without the values: any of them may be a secret."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

__all__ = ["describe"]

_FAULTS_MAX = 5

# Texts of pydantic that speak of the rule. Others quote the value, or come from user code.
_SAFE = frozenset(
    {
        "bool_parsing",
        "decimal_max_digits",
        "decimal_max_places",
        "decimal_parsing",
        "decimal_whole_digits",
        "enum",
        "finite_number",
        "float_parsing",
        "greater_than",
        "greater_than_equal",
        "int_from_float",
        "int_parsing",
        "less_than",
        "less_than_equal",
        "literal_error",
        "multiple_of",
        "string_pattern_mismatch",
        "string_too_long",
        "string_too_short",
        "timezone_aware",
        "too_long",
        "too_short",
    }
)
_OURS = {"missing": "is missing", "extra_forbidden": "is no field"}


def describe(error: ValidationError) -> str:
    """The faults as one line: `items[0].quantity: Input should be …; id: is missing`."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{_place(fault['loc'])}: {_reason(fault)}" for fault in faults[:_FAULTS_MAX]]
    if len(faults) > _FAULTS_MAX:
        lines.append(f"and {len(faults) - _FAULTS_MAX} more")
    return "; ".join(lines)


def _reason(fault: Any) -> str:
    kind: str = fault["type"]
    if kind in _OURS:
        return _OURS[kind]
    if kind in _SAFE or kind.endswith("_type"):
        return str(fault["msg"])
    return kind.replace("_", " ")


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    for step in location:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            # A key of a mapping comes from outside, like any value: show only what looks like one.
            name = step if step.isidentifier() and len(step) <= 64 else ascii(step[:64])
            text += f".{name}" if text else name
    return text or "the whole"
