"""Silence: nobody tells, and only the poll finds what others have written."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Silence"]


class Silence:
    """Hints that never come."""

    descriptor: int | None = None
    patience = math.inf

    def __init__(self, _database: object) -> None:
        """Of any database."""

    def changing(self) -> bool:
        """There is no sign."""
        return False

    def version(self, connection: Any) -> int:  # noqa: ARG002  as in the seam
        """Nothing changes it."""
        return 0

    def caught_up(self) -> None:
        """Nothing was missed."""

    def close(self) -> None:
        """Nothing is held."""
