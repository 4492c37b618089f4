"""How fast it is, beside hand-written floors in the same run: `python3 dev.py bench`."""

from __future__ import annotations

__all__: list[str] = []
