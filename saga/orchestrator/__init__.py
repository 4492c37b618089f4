"""Who makes it happen: claim, call, record, recover."""

from __future__ import annotations

__all__: list[str] = []
