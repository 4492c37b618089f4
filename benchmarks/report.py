"""What a section says at its end: tables for a person, and the same figures as JSON."""

from __future__ import annotations

import json
import os
import platform
import textwrap
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from saga.journal.sqlite import library

__all__ = ["Report", "write_json"]

_WIDTH = 79


@dataclass(slots=True)
class Report:
    """`tables` and `notes` are printed; `figures` are dataclasses, or plain dicts, for JSON.

    `failed`: something could not be measured, or what was measured is not right.
    """

    section: str
    tables: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[Any] = field(default_factory=list)
    failed: bool = False

    def text(self) -> str:
        """The page that is printed."""
        notes = (textwrap.fill(note, _WIDTH, subsequent_indent="  ") for note in self.notes)
        return "\n\n".join([*self.tables, "\n".join(notes)])


def write_json(folder: Path, report: Report, options: Any) -> Path:
    """Write the figures of a section, with where and when they were taken; the file."""
    path = folder / f"{report.section}.json"
    content = {
        "section": report.section,
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "options": {name: _plain(value) for name, value in asdict(options).items()},
        "figures": [asdict(one) if is_dataclass(one) else one for one in report.figures],  # type: ignore[arg-type]
        "notes": report.notes,
        "failed": report.failed,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int | float) else str(value)


def _machine() -> dict[str, Any]:
    """Two runs can be compared only where these agree; the load says whether it was quiet."""
    return {
        "cpus": os.cpu_count(),
        "load": [round(one, 2) for one in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": library.sqlite_version,
    }
