"""What a person decides: cases, evidence, verdicts."""

from __future__ import annotations

__all__: list[str] = []
