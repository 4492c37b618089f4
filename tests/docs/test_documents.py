"""What the documents show is executed: every Python block of a file, in one namespace, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_python_of_a_document_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text(encoding="utf-8")
    space: dict[str, object] = {"__name__": "document"}
    for block in BLOCK.finditer(text):
        # The line numbers of the document, so that a failure points into it.
        padding = "\n" * text[: block.start(1)].count("\n")
        exec(compile(padding + block[1], name, "exec"), space)
    assert name != "README.md" or "trips" in space


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_links_of_a_document_lead_somewhere(name: str) -> None:
    place = (ROOT / name).parent
    links = LINK.findall((ROOT / name).read_text(encoding="utf-8"))
    missing = [link for link in links if not (place / link).exists()]
    assert not missing
