"""A SQLite library of another version than the one that is here."""

from __future__ import annotations

from typing import Any

from saga.journal.sqlite import library

__all__ = ["Older"]


class Older:
    """The library as one of an affected version would be."""

    def __init__(self, version: tuple[int, int, int]) -> None:
        self.sqlite_version_info = version
        self.sqlite_version = ".".join(map(str, version))

    def __getattr__(self, name: str) -> Any:
        return getattr(library, name)
