"""What the tests of operation have in common: the tables, and waiting for something to be so."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from tests.cli.shell import NOTHING, Env, Shell

__all__ = ["findings", "in_flight", "sql", "start", "until"]


def start(shell: Shell, run_id: str, city: str = "Rome", env: Env = NOTHING) -> None:
    words = ("start", "trips.py:app", "trip", run_id, json.dumps({"city": city}))
    assert shell.saga(*words, env=env).code == 0


def sql(shell: Shell, statement: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(shell.database)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def until(condition: Callable[[], bool], within: float = 10.0) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def findings(shell: Shell) -> tuple[int, dict[str, str]]:
    answer = shell.saga("health", "--json")
    found = answer.json["findings"]
    return answer.code, {one["code"]: one["remedy"] for one in found}


def in_flight(shell: Shell, run_id: str) -> None:
    """A run whose hotel is being booked until `go` is there."""
    start(shell, run_id, "Slow")
    until(lambda: shell.json("why", run_id)["rule"] == "in_flight")
