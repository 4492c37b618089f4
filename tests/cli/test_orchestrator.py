"""orchestrator: the process that moves runs, its signals and its logs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from typing import Any

import pytest

from saga import App, BadInput, Orchestrator
from tests.cli.doing import in_flight, sql, start
from tests.cli.shell import Shell


def test_an_orchestrator_makes_the_database_and_says_what_it_runs(shell: Shell) -> None:
    with shell.orchestrator() as process:
        assert shell.database.is_file()
        assert f"(pid {process.pid}) runs trip@1" in process.says("trip@1")
        ((pid, host, state),) = sql(shell, "SELECT pid, host, state FROM orchestrators")
        assert (pid, host, state) == (process.pid, socket.gethostname(), "alive")
    assert sql(shell, "SELECT state FROM orchestrators") == [("dead",)]


def test_until_idle_ends_when_nothing_is_left(shell: Shell) -> None:
    start(shell, "t1")
    start(shell, "t2", "Typo")
    log = shell.idle()
    assert "case t2/1 opened (unknown)" in log
    assert shell.json("show", "t1")["outcome"] == "completed"


def test_the_app_may_come_from_the_environment(shell: Shell) -> None:
    start(shell, "t1")
    env = {"SAGA_APP": "trips.py:app"}
    assert shell.saga("orchestrator", "--until-idle", env=env).code == 0
    assert shell.json("show", "t1")["outcome"] == "completed"
    assert shell.saga("orchestrator", "--until-idle").code == 2


def test_its_limits_are_options(shell: Shell) -> None:
    """With room for one run, the others wait for it."""
    for number in range(3):
        start(shell, f"t{number}")
    shell.idle("--runs-at-once", "1", "--threads", "2")
    assert [run["outcome"] for run in shell.json("runs")] == ["completed"] * 3
    for option in ("--runs-at-once", "--threads"):
        refused = shell.saga("orchestrator", "trips.py:app", option, "0")
        assert refused.code == 2
        assert option in refused.err


def test_a_lease_in_which_nobody_can_beat_is_refused(shell: Shell) -> None:
    """It would be lost, and gone on with anew, a hundred times a second."""
    refused = shell.saga("orchestrator", "trips.py:app", "--lease", "0.001", "--json")
    assert (refused.code, refused.error["message"]) == (2, "lease is 0.001 s")
    assert "at least 0.1 s" in refused.error["remedy"]


@pytest.mark.parametrize("limit", [0, -1, 1.5, "1", True])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    for name in ("threads", "runs_at_once"):
        given: Any = {name: limit}
        with pytest.raises(BadInput, match=name):
            Orchestrator(App(), **given)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_first_signal_lets_calls_in_flight_finish(
    shell: Shell, number: signal.Signals, code: int
) -> None:
    process = shell.begin("orchestrator", "trips.py:app", "--poll", "0.05")
    process.says(" runs ")
    in_flight(shell, "t1")
    process.signal(number)
    process.says("starting nothing new")
    (shell.folder / "go").touch()
    assert process.end().code == code
    run = shell.json("show", "t1")
    assert [step["state"] for step in run["steps"]] == ["landed", "waiting"]


def test_the_second_signal_ends_it_at_once_and_the_next_one_goes_on(shell: Shell) -> None:
    process = shell.begin("orchestrator", "trips.py:app", "--poll", "0.05")
    process.says(" runs ")
    in_flight(shell, "t1")
    process.signal(signal.SIGINT)
    process.says("starting nothing new")
    began = time.monotonic()
    process.signal(signal.SIGINT)
    assert process.end().code == 130
    assert time.monotonic() - began < 2.0
    (shell.folder / "go").touch()
    shell.idle()
    assert shell.json("show", "t1")["outcome"] == "completed"


def test_without_grace_a_call_in_flight_is_unknown_and_asked_about_later(shell: Shell) -> None:
    process = shell.begin("orchestrator", "trips.py:app", "--poll", "0.05", "--grace", "0")
    process.says(" runs ")
    in_flight(shell, "t1")
    process.signal(signal.SIGTERM)
    assert process.end().code == 0
    assert shell.json("show", "t1")["steps"][0]["state"] in ("sending", "unknown")
    (shell.folder / "go").touch()


def test_logs_are_one_line_each_whatever_is_in_them(shell: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "t1")
    nasty = {"city": "Hostile", "note": "two\nlines \x1b[31mred\x07 \u202eback"}
    assert shell.saga(*words, json.dumps(nasty)).code == 0
    log = shell.idle()
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 [A-Z]+ saga[.\w]*: \S.*")
    for line in log.splitlines():
        assert stamp.fullmatch(line), line
        assert line.isprintable(), line


def test_an_orchestrator_of_an_edited_saga_under_the_same_version_does_not_start(
    shell: Shell,
) -> None:
    start(shell, "t1")
    text = (shell.folder / "trips.py").read_text()
    (shell.folder / "trips.py").write_text(text.replace('"hotel.book",', '"hotel.buy",'))
    answer = shell.saga("orchestrator", "trips.py:app", "--until-idle")
    assert answer.code == 4
    assert "use version=2" in answer.err
    (shell.folder / "trips.py").write_text(text)


def test_the_pid_of_a_command_is_its_own(shell: Shell) -> None:
    """The warm parent gives every command a process: what signals reach is one command only."""
    with shell.orchestrator() as process:
        assert process.pid != os.getpid()
