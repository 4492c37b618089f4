"""A ticket is closed by an agent: read it, have the close approved, close it once."""

from __future__ import annotations

__all__: list[str] = []
