"""What may be asked about runs and about the whole: reading only, nothing here decides."""

from __future__ import annotations

__all__: list[str] = []
