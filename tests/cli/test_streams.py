"""stdin, stdout, stderr, argv and locale as they come: closed, full, left, not UTF-8.

Python starts anew here for each command: a warm process has its streams already.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from saga.version import VERSION
from tests.cli.shell import Shell
from tests.cli.warm import ROOT

ROME = '{"city": "Rome"}'


@pytest.fixture
def started(shell: Shell) -> Shell:
    words = ("start", "trips.py:app", "trip", "t1", '{"city": "Z\\u00fcrich", "note": "\\u2603"}')
    assert shell.saga(*words).code == 0
    shell.idle()
    return shell


def test_help_teaches_without_importing_a_database_library(shell: Shell) -> None:
    code = (
        "import sys, saga.cli\n"
        "assert saga.cli.main(sys.argv[1:]) == 0\n"
        "heavy = {'sqlalchemy', 'alembic', 'asyncio', 'saga.client', 'saga.orchestrator'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", code, "start", "--help"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Examples:" in done.stdout


def test_it_says_its_version(shell: Shell) -> None:
    assert shell.saga("--version").out == f"saga {VERSION}\n"


def test_every_verb_has_help_with_an_example_that_fits_eighty_columns(shell: Shell) -> None:
    verbs = [
        *("start", "runs", "show", "why", "journal", "wait", "cancel"),
        *("cases", "case", "resolve"),
        *("orchestrator", "health", "verify", "pause", "resume", "check", "draw"),
        *("db check", "db upgrade"),
    ]
    answers = shell.all([(*verb.split(), "--help") for verb in verbs])
    for verb, answer in zip(verbs, answers, strict=True):
        assert (answer.code, answer.err) == (0, "")
        assert f"saga {verb}" in answer.out.split("Examples:")[1], verb
        assert max(map(len, answer.out.splitlines())) <= 80, verb


def test_a_bare_saga_shows_its_help(shell: Shell) -> None:
    answer = shell.saga()
    assert (answer.code, answer.err) == (2, "")
    assert "Usage: saga" in answer.out


def test_python_m_saga_is_the_command_line(started: Shell) -> None:
    done = started.cold("show", "t1", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == started.json("show", "t1")


def test_a_reader_that_leaves_early_changes_nothing(started: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = started.cold("runs", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    words = ("start", "trips.py:app", "trip", "t2", ROME)
    reading, writing = os.pipe()
    os.close(reading)
    assert started.cold(*words, stdout=writing).returncode == 0
    os.close(writing)
    assert started.json("show", "t2")["phase"] == "running"


def test_a_full_disk_behind_stdout_is_an_error_in_words(started: Shell) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("wb") as full:
        done = started.cold("runs", stdout=full)
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["1>&-", "0<&- 1>&- 2>&-"])
def test_closed_descriptors_do_no_harm(started: Shell, closed: str) -> None:
    """A database must never be opened as descriptor 1, where an answer would be written into it."""
    words = f"start trips.py:app trip t2 '{ROME}'"
    command = f"exec {sys.executable} -m saga {words} {closed}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=started.folder, env=environment, check=False)
    assert done.returncode == 0
    assert started.json("verify")["ok"] is True
    assert started.json("show", "t2")["phase"] == "running"


@pytest.mark.parametrize("env", [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_any_locale_will_do(started: Shell, env: dict[str, str]) -> None:
    done = started.cold("show", "t1", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert "\\u2603" in text or "☃" in text


def test_json_is_ascii_whatever_is_in_it(started: Shell) -> None:
    answer = started.saga("show", "t1", "--json")
    assert answer.out.isascii()
    assert "☃" in answer.json["steps"][1]["receipt"]["note"]


def test_arguments_that_are_not_utf8_are_bad_input_and_never_a_crash(started: Shell) -> None:
    done = started.cold(b"show", b"t\xff", b"--json")
    assert (done.returncode, done.stdout) == (3, b"")
    assert json.loads(done.stderr)["message"] == r"no run 't\udcff' in this database"
    for code, *words in (
        (3, b"case", b"t\xff/1"),
        (3, b"why", b"\xff"),
        (2, b"cancel", b"t1", b"--reason", b"no \xff way"),
        (2, b"start", b"trips.py:app", b"trip", b"t\xff", ROME.encode()),
        (2, b"start", b"trips.py:app", b"trip", b"t2", b'{"city": "\xff"}'),
        (2, b"start", b"trips.py:app", b"trip", b"t2", b"@\xff"),
        (2, b"check", b"\xff:app"),
        (2, b"runs", b"--after", b"\xff"),
        (6, b"runs", b"--db", b"sqlite:///\xff.db"),
        (2, b"\xff"),
    ):
        answer = started.saga(*map(os.fsdecode, words), "--json")
        assert (answer.code, answer.out) == (code, ""), (words, answer)
        assert answer.error["message"]


def test_ctrl_c_is_a_hundred_and_thirty_and_says_nothing(started: Shell) -> None:
    assert started.saga("start", "trips.py:app", "trip", "t2", ROME).code == 0
    process = started.begin("wait", "t2")
    process.says("waiting for t2")
    process.signal(signal.SIGINT)
    answer = process.end()
    assert (answer.code, answer.out) == (130, "")
    assert "Traceback" not in answer.err


def test_what_takes_longer_than_a_second_says_so_on_stderr(started: Shell) -> None:
    assert started.saga("start", "trips.py:app", "trip", "t2", ROME).code == 0
    answer = started.saga("wait", "t2", "--timeout", "1.3")
    assert answer.code == 10
    assert "\nwaiting for t2 (1 s) ...\n" in answer.err
    assert "waiting for" not in answer.out
    quiet = started.saga("wait", "t2", "--timeout", "1.3", "--json")
    assert quiet.error["error"] == "TimeoutError"


def test_on_a_terminal_there_are_colours_and_its_own_width(started: Shell) -> None:
    parent, child = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-m", "saga", "show", "t1"]
    with subprocess.Popen(command, cwd=started.folder, env=environment, stdout=child) as process:
        os.close(child)
        text = b""
        while process.poll() is None or not text:
            try:
                text += os.read(parent, 65536)
            except OSError:
                break
            time.sleep(0.01)
    os.close(parent)
    assert process.returncode == 0
    assert b"\x1b[" in text
    assert b"completed" in text
