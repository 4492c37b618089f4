"""The benchmark as a person starts it, with counts so small that its figures mean nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "bench", "figures"]

ROOT = Path(__file__).resolve().parents[2]


def bench(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words, "--folder", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def figures(folder: Path, section: str) -> list[dict[str, Any]]:
    content = json.loads((folder / "results" / f"{section}.json").read_text("utf-8"))
    assert content["section"] == section
    assert not content["failed"]
    return list(content["figures"])
