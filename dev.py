#!/usr/bin/env python3
"""The one way to try, test and check this checkout, from a bare Python 3.11 with pip.

  demo     real orders, a real shop, processes killed on the way
  test     all tests, on every core; what follows goes to pytest (-k WORD, -n 0)
  check    format, lint, types, imports: all of them, each time
  bench    how fast it is; its sections: bench --help
  lock     write requirements.lock anew from pyproject.toml

The first call installs what requirements.lock names, by version and hash, into
.venv (or the folder that SAGA_DEV_VENV names) and nowhere else; later calls
start at once. Paths count from the checkout, wherever you are.
"""

# Rules of this file: the standard library only, since it runs before anything is installed. A stamp
# is written when everything is in place: an environment without the right one is unfinished or old,
# and made anew. demo, test and bench replace this process: exit codes and Ctrl-C are theirs.

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
POSIX = os.name == "posix"
PYTHON = Path("bin/python" if POSIX else "Scripts/python.exe")
STAMP = "saga-dev-stamp.json"  # written last: everything is in place
OURS = "saga-dev-made-this"  # written first and removed last: this folder may be deleted

# Where packages come from is the machine's business; which ones and where they go is ours.
SOURCES = re.compile(
    r"PIP_(CERT|CLIENT_CERT|CONFIG_FILE|DEFAULT_TIMEOUT|PROXY|RETRIES|TIMEOUT|TRUSTED_HOST)"
    r"|UV_(CONFIG_FILE|HTTP_TIMEOUT|INSECURE_HOST|LINK_MODE|NATIVE_TLS|OFFLINE|SYSTEM_CERTS)"
    r"|(PIP|UV)_(.*INDEX.*|FIND_LINKS|KEYRING_PROVIDER|(NO_)?CACHE(_DIR)?)"
)
RUNS = {"demo": "examples.order_flow.demo", "bench": "benchmarks"}
# A file is never split: what is counted at its end is what all its tests have seen.
RUNS["test"] = "pytest -n auto --dist loadfile"


class Stop(Exception):
    """It cannot go on; the text says what to do."""


def say(text: str, *, end: str = "\n") -> None:
    """Progress goes to stderr: stdout belongs to the tools."""
    print(text, end=end, file=sys.stderr, flush=True)


def told(what: str, command: Sequence[object], env: dict[str, str]) -> int:
    """Run it and say how long it takes; show its own words only if it fails."""
    say(f"{what} ...", end="")
    started = time.monotonic()
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=subprocess.STDOUT,
            close_fds=False,  # should we be killed, it keeps our turn (see `alone`) until it ends
            start_new_session=POSIX,  # so that an interruption ends all that it started, too
        )
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(timeout=2)
                    break
                say(".", end="")
        except BaseException:
            end(process)
            raise
        say(f" {'FAILED' if code else 'done'} ({time.monotonic() - started:.1f} s)")
        if code:
            words.seek(0)
            say(words.read().decode(errors="replace").strip())
    return code if code >= 0 else 128 - code


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask, then force."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number) if POSIX else process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
            return


def spare_folder() -> Path:
    """Where we may write: the checkout, else a private folder of this user for this checkout."""
    if os.access(ROOT, os.W_OK):
        return ROOT
    whose = str(os.getuid()) if POSIX else os.environ.get("USERNAME", "user")
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"saga-dev-{whose}-{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if POSIX and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        raise Stop(f"{folder} belongs to somebody else: remove it, or set SAGA_DEV_VENV")
    return folder


def environment(place: Path | None = None) -> dict[str, str]:
    """Ours without what sends packages or imports elsewhere; as activated, if `place` is given."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"}
        and (not name.startswith(("PIP_", "UV_")) or SOURCES.fullmatch(name))
    }
    env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    if place is not None:
        env["VIRTUAL_ENV"] = str(place)
        env["PATH"] = os.pathsep.join([str((place / PYTHON).parent), env.get("PATH", os.defpath)])
    if (spare := spare_folder()) != ROOT:  # the tools would keep their caches in the checkout
        env["HYPOTHESIS_STORAGE_DIRECTORY"] = str(spare / "hypothesis")
        env["MYPY_CACHE_DIR"] = str(spare / "mypy")
        env["PYTEST_ADDOPTS"] = f"{env.get('PYTEST_ADDOPTS', '')} -p no:cacheprovider"
        env["RUFF_CACHE_DIR"] = str(spare / "ruff")
    return env


def ready() -> Path:
    """The environment, made or renewed if it is not what lock, project and Python ask for."""
    if chosen := os.environ.get("SAGA_DEV_VENV"):
        place = Path(chosen).expanduser().absolute()
    elif stamp_of(place := ROOT / ".venv") != stamp_for(place):
        place = spare_folder() / ".venv"
    want = stamp_for(place)
    if stamp_of(place) == want:
        return place
    with alone(place):
        have = stamp_of(place)  # again: another dev.py may have been faster
        if {**have, "project": want["project"]} != want:
            make(place)
            (place / STAMP).write_text(json.dumps({**want, "project": "not yet"}))
        if have != want:
            itself = ["--no-deps", "--no-build-isolation", "--editable", ROOT]
            install(place, "installing this checkout", *itself)
            (place / STAMP).write_text(json.dumps(want))
    return place


def stamp_for(place: Path) -> dict[str, str]:
    return {
        "lock": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "project": hashlib.sha256(PROJECT.read_bytes()).hexdigest(),
        "python": f"{sys.version} in {sys.base_prefix}",
        "place": f"{place} for {ROOT}",
    }


def stamp_of(place: Path) -> dict[str, str]:
    """What is installed there; nothing, if it was not finished or cannot be run by us."""
    with contextlib.suppress(OSError, ValueError):
        if os.access(place / PYTHON, os.X_OK):
            return dict(json.loads((place / STAMP).read_text()))
    return {}


@contextlib.contextmanager
def alone(place: Path) -> Iterator[None]:
    """One dev.py at a time makes this environment. Windows goes without."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("wb") as turn:
        if POSIX:
            import fcntl  # noqa: PLC0415 - Windows has none

            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"waiting for another dev.py that makes {place}")
                fcntl.flock(turn, fcntl.LOCK_EX)
            os.set_inheritable(turn.fileno(), True)  # noqa: FBT003 - see `told`
        yield


def make(place: Path) -> None:
    """An environment with exactly what the lock names. Interrupted or failed, nothing is left."""
    clear(place)
    with contextlib.ExitStack() as undo:
        undo.callback(clear, place)
        place.mkdir()
        (place / OURS).touch()
        create = [sys.executable, "-m", "venv", "--without-pip", place]
        if told(f"making {place}", create, environment()):
            raise Stop("this Python makes no virtual environment; why is said above")
        # No source distributions: what they need to build would come without a hash.
        locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", LOCK]
        install(place, "installing the locked packages (once; a minute or less)", *locked)
        undo.pop_all()


def install(place: Path, what: str, *words: object) -> None:
    """With uv where it is found, else, or if it cannot, with the pip of the Python that runs us."""
    python = place / PYTHON
    tools: list[list[object]] = [[sys.executable, "-m", "pip", "--python", python, "install"]]
    if uv := shutil.which("uv"):
        tools.insert(0, [uv, "pip", "install", "--python", python])
    if all(told(what, [*tool, *words], environment(place)) for tool in tools):
        raise Stop("it did not install; why is said above")


def clear(place: Path) -> None:
    """Remove the environment; never a folder that this file did not make."""
    if not place.exists():
        return
    entries = sorted(place.iterdir(), key=lambda path: path.name == OURS)
    if entries and entries[-1].name != OURS:
        raise Stop(f"{place} was not made by dev.py: remove it, or set SAGA_DEV_VENV elsewhere")
    for path in entries:
        remove = shutil.rmtree if path.is_dir() and not path.is_symlink() else os.unlink
        remove(path)
    place.rmdir()


def become(*words: str) -> int:
    place = ready()
    command, env = [str(place / PYTHON), *words], environment(place)
    os.chdir(ROOT)
    if POSIX:
        os.execve(command[0], command, env)
    return subprocess.call(command, env=env)


def check(*, fix: bool) -> int:
    place = ready()
    imports = "from importlinter.cli import lint_imports_command as check; check()"
    steps = {
        "format": ["-m", "ruff", "format", *([] if fix else ["--check"])],
        "lint": ["-m", "ruff", "check", *(["--fix"] if fix else [])],
        "types": ["-m", "mypy"],
        "imports": ["-c", imports, "--no-cache"],
    }
    env, python = environment(place), place / PYTHON
    codes = [told(what, [python, *words], env) for what, words in steps.items()]
    return next((code for code in codes if code), 0)


def lock(*, upgrade: bool) -> int:
    """Resolve for every platform and Python at once, note every hash, and not where from."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / LOCK.name
        if not upgrade:
            shutil.copy(LOCK, fresh)  # versions that still fit stay
        pip = [sys.executable, "-m", "pip", "install", "--target", folder, "uv"]
        uv = [Path(folder) / "bin" / "uv", "pip", "compile", PROJECT, "--group", f"{PROJECT}:dev"]
        uv += ["--all-extras", "--universal", "--python-version", "3.11", "--generate-hashes"]
        uv += ["--no-header", "--no-annotate", "--output-file", fresh]
        if told("fetching uv", pip, environment()) or told("resolving", uv, environment()):
            return 1
        LOCK.write_text(f"# Made by `python3 dev.py lock`.\n{fresh.read_text()}")
    return 0


def main(argv: Sequence[str]) -> int:
    """Exit codes: the tool's own; 1 if the environment cannot be made, 2 for usage, 130 Ctrl-C."""
    if sys.version_info < (3, 11):  # noqa: UP036 - said here, before pip says it less clearly
        say(f"dev.py needs Python 3.11 or newer; this is {sys.version.split()[0]}")
        return 2
    parser = argparse.ArgumentParser(
        prog="dev.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=["demo", "test", "check", "bench", "lock"], metavar="VERB")
    parser.add_argument("--fix", action="store_true", help="check: mend format and lint first")
    parser.add_argument("--upgrade", action="store_true", help="lock: take newer versions of all")
    verb, rest = next(iter(argv), ""), list(argv[1:])
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        if verb == "bench" or (verb in RUNS and rest[:1] not in (["-h"], ["--help"])):
            return become("-m", *RUNS[verb].split(), *(rest[1:] if rest[:1] == ["--"] else rest))
        options = parser.parse_args(argv)
        return check(fix=options.fix) if verb == "check" else lock(upgrade=options.upgrade)
    except (OSError, Stop) as reason:
        say(f"dev.py: {reason}")
        return 1
    except KeyboardInterrupt:
        say("\ninterrupted")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
