"""The lock holds what the project asks for, and dev.py touches nothing that is not its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dev


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads(dev.PROJECT.read_text("utf-8"))


@pytest.fixture(scope="module")
def locked() -> dict[str, tuple[str, str]]:
    """Name -> version and all that the lock says of it."""
    entries = re.split(r"(?m)^(?=[a-z0-9])", dev.LOCK.read_text("utf-8"))[1:]
    named = (re.fullmatch(r"(?s)([\w.-]+)==([\w.!+-]+)(.*)", entry) for entry in entries)
    return {canonicalize_name(one[1]): (one[2], one[3]) for one in named if one}


def test_the_lock_fits_what_the_project_asks_for(
    project: dict[str, Any], locked: dict[str, tuple[str, str]]
) -> None:
    """If this fails: `python3 dev.py lock`."""
    asked = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(one for extra in project["project"]["optional-dependencies"].values() for one in extra),
        *(one for group in project["dependency-groups"].values() for one in group),
    ]
    for requirement in map(Requirement, asked):
        version, _ = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}, but locked is {version}"


def test_every_locked_package_has_its_hashes(locked: dict[str, tuple[str, str]]) -> None:
    assert len(locked) > 40
    for name, (_, rest) in locked.items():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", rest), name


def test_the_lock_is_silent_about_where_packages_come_from() -> None:
    """So that it works behind every mirror, and tells nothing of the machine that made it."""
    assert not re.findall(r"(?m)^--.*|\w+://\S*|/\S*/", dev.LOCK.read_text("utf-8"))


def test_the_tools_are_told_where_packages_come_from_but_not_where_they_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PIP_USER", "PIP_TARGET", "PIP_REQUIRE_HASHES", "UV_SYSTEM_PYTHON", "PYTHONPATH"):
        monkeypatch.setenv(name, "1")
    for name in ("PIP_INDEX_URL", "PIP_CERT", "UV_DEFAULT_INDEX", "UV_INDEX_OURS_PASSWORD"):
        monkeypatch.setenv(name, "kept")
    env = dev.environment()
    assert env["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PIP_REQUIRE_HASHES", "UV_SYSTEM_PYTHON", "PYTHONPATH"} & set(env)
    assert [name for name, value in env.items() if value == "kept"] == [
        name for name in os.environ if os.environ[name] == "kept"
    ]


def test_a_folder_that_dev_did_not_make_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years")
    with pytest.raises(dev.Stop, match="was not made by dev"):
        dev.clear(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_an_interrupted_installation_is_not_taken_as_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    place = tmp_path / "place"
    monkeypatch.setenv("SAGA_DEV_VENV", str(place))
    monkeypatch.setattr(dev, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dev.ready()
    assert not place.exists()

    unfinished = place / dev.PYTHON
    unfinished.parent.mkdir(parents=True)
    unfinished.symlink_to(sys.executable)
    assert dev.stamp_of(place) != dev.stamp_for(place)


@pytest.mark.parametrize(("words", "code"), [((), 2), (("dance",), 2), (("--help",), 0)])
def test_usage_is_told(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    command = [sys.executable, str(dev.ROOT / "dev.py"), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "usage: dev.py" in done.stdout + done.stderr
