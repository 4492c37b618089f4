"""What all facts have in common: how they are built, and the plain values that they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, dataclass_transform

__all__ = ["Error", "Json", "fact"]

Json: TypeAlias = Any
Error: TypeAlias = dict[str, Any]  # {type, text, leaves}: plain text, 2 KB in all

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def fact(shape: type[_T]) -> type[_T]:
    """A class of values that are never changed."""
    # Frozen for whoever checks types: at run time that would triple what making one costs.
    return dataclass(unsafe_hash=True, slots=True, kw_only=True)(shape)
