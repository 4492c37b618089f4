"""Exceptions as plain text: bounded, storable, whatever the exception does when it is looked at."""

from __future__ import annotations

import re

from saga.machine.facts import Error

__all__ = ["TEXT_LIMIT", "bounded", "describe"]

TEXT_LIMIT = 1400  # bytes of text; with the names and leaves 2 KB in all
_LEAVES = 8
_LEAF_LIMIT = 55
# What some database or terminal cannot take: NUL and other controls, lone surrogates.
_UNSTORABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def describe(error: BaseException) -> Error:
    """`{type, text, leaves}`: qualified name, bounded message, the leaves of an exception group."""
    leaves: list[str] = []
    if isinstance(error, BaseExceptionGroup):
        _collect(error, leaves)
    return {
        "type": _name(error),
        "text": bounded(_text(error), TEXT_LIMIT),
        "leaves": leaves,
    }


def _collect(group: BaseExceptionGroup[BaseException], leaves: list[str]) -> None:
    stack: list[BaseException] = list(reversed(group.exceptions))
    while stack and len(leaves) < _LEAVES:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(reversed(error.exceptions))
        else:
            leaves.append(bounded(f"{_name(error)}: {_text(error)}", _LEAF_LIMIT))


def _name(error: BaseException) -> str:
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    return bounded(name, 200)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as broken:  # noqa: BLE001  user code, and it has already failed once
        return f"(its __str__ raised {type(broken).__name__})"


def bounded(text: str, limit: int) -> str:
    """Text that can be stored, at most `limit` bytes of it (UTF-8); it may have millions."""
    kept = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text[:limit])
    if len(kept) == len(text) and len(kept.encode()) <= limit:
        return kept
    return kept.encode()[: limit - 3].decode(errors="ignore") + "…"
