"""What a database is made of, as text."""

from __future__ import annotations

from typing import Any

__all__ = ["made_by"]


def made_by(connection: Any) -> list[tuple[str, ...]]:
    """The statements that made what is there, whatever their white space."""
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    ).fetchall()
    return [(*row[:3], " ".join((row[3] or "").split())) for row in rows]
