"""A peer's own environment: what its file of pinned versions names, and nothing of ours.

Made once, in a folder named after the content of that file; a stamp is written when it is complete.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

import dev

__all__ = ["NotInstalledError", "python_of"]

_HERE = Path(__file__).parent
_STAMP = "complete"


class NotInstalledError(Exception):
    """A peer could not be installed; what pip said stands on stderr."""


def python_of(peer: str, folder: Path) -> Path:
    """The Python that has this peer; installs it there if need be."""
    pinned = _HERE / f"{peer}.txt"
    mark = f"{sys.version} {sys.base_prefix}".encode() + pinned.read_bytes()
    place = folder / f"{peer}-{hashlib.sha256(mark).hexdigest()[:12]}"
    python = place / dev.PYTHON
    if not (place / _STAMP).exists():
        shutil.rmtree(place, ignore_errors=True)  # one that was interrupted
        place.parent.mkdir(parents=True, exist_ok=True)
        _told(f"making an environment for {peer}", sys.executable, "-m", "venv", place)
        pip = (python, "-m", "pip", "install", "--only-binary", ":all:", "--no-deps")
        _told(f"installing {peer}", *pip, "--requirement", pinned)
        (place / _STAMP).touch()
    return python


def _told(what: str, *command: object) -> None:
    if dev.told(what, command, dev.environment()):
        raise NotInstalledError(f"{what} failed; why is said above")
