"""What a type checker says of definitions: nothing of good ones, and the line of every mistake.

mypy runs as a user runs it, strict and without our configuration, and once more with pydantic's
plugin as its documentation recommends it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from saga import DefinitionError
from tests.definition import good_definitions, order_flow

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GOOD = (HERE / "good_definitions.py").read_text()
BAD = (HERE / "bad_definitions.txt").read_text()

PLAIN = "[mypy]\nstrict = true\n"
PLUGIN = (
    PLAIN
    + "plugins = pydantic.mypy\n[pydantic-mypy]\ninit_typed = true\ninit_forbid_extra = true\n"
)


def run_mypy(folder: Path, source: str, config: str) -> dict[int, str]:
    """The errors of mypy by line of `source`."""
    (folder / "mypy.ini").write_text(config)
    file = folder / "definitions.py"
    file.write_text(source)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", ".cache"]
    done = subprocess.run(
        [*command, "--explicit-package-bases", "definitions.py"],
        cwd=folder,
        env={"MYPYPATH": f"{ROOT}:.", "PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    found = re.findall(r"^definitions\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    others = [
        line
        for line in done.stdout.splitlines()
        if ": error:" in line and "definitions.py" not in line
    ]
    assert others == []
    return {int(line): text for line, text in found}


@pytest.mark.parametrize("config", [PLAIN, PLUGIN], ids=["plain", "plugin"])
def test_mypy_strict_accepts_good_definitions_and_finds_every_mistake(
    tmp_path: Path, config: str
) -> None:
    assert run_mypy(tmp_path, GOOD, config) == {}
    found = run_mypy(tmp_path, BAD, config)
    planted = {
        number: line for number, line in enumerate(BAD.splitlines(), start=1) if "  # " in line
    }
    assert len(planted) == 28
    missed = {line for number, line in planted.items() if number not in found}
    assert missed == set()
    assert set(found) == set(planted), found


def test_what_a_type_checker_accepts_and_cannot_be_is_refused_when_it_runs() -> None:
    """`f"pm {order.id}"` is a `str` for mypy and has no value here."""
    with pytest.raises(DefinitionError, match=r"input\.id has no value yet"):
        str(f"pm {order_flow.order.id}")


def test_good_definitions_are_good_when_they_run() -> None:
    assert good_definitions.app.saga("trip").digest()
