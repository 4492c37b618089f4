"""What the documents show is executed: the Python blocks of a file, in order, as one program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def program_of(text: str) -> str:
    """The blocks at the lines where they stand, so that a failure points into the document."""
    program = ""
    for block in BLOCK.finditer(text):
        before = text[: block.start(1)].count("\n")
        program += "\n" * (before - program.count("\n")) + block[1]
    return program


def test_there_is_something_to_run() -> None:
    assert "Saga(" in program_of((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_python_of_a_document_runs(name: str, tmp_path: Path) -> None:
    program = tmp_path / f"{Path(name).stem}.py"
    program.write_text(program_of((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_links_of_a_document_lead_somewhere(name: str) -> None:
    place = (ROOT / name).parent
    links = LINK.findall((ROOT / name).read_text(encoding="utf-8"))
    missing = [link for link in links if not (place / link).exists()]
    assert not missing
