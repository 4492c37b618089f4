"""What has happened: tables, seals, group commit, ownership, queries. Alone uses SQLAlchemy."""

from __future__ import annotations

__all__: list[str] = []
