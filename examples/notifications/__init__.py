"""A campaign of 100 notifications in batches, killed after the 20th has landed."""

from __future__ import annotations

__all__: list[str] = []
