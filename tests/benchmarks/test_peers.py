"""The section `peers`, without its peers: a test installs nothing.

Where one is needed, a small program stands in for its Python.
"""

from __future__ import annotations

import ast
import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import psycopg
import pytest

from benchmarks.options import parse
from benchmarks.peers import contest, running, timing
from benchmarks.peers.catalogue import OURS, PEERS, contenders, peer_names
from benchmarks.peers.venvs import NotInstalledError
from benchmarks.report import Report
from tests.benchmarks.measuring import ROOT
from tests.postgres.server import Server

HERE = ROOT / "benchmarks" / "peers"
ON_FILES = PEERS[0]
ABSURD = next(one for one in PEERS if one.who == "Absurd")

_BEGIN = f"""#!{sys.executable}
import json, os, sys, time
url = os.environ["SAGA_BENCH_DATABASE"]
"""
_END = """
print(json.dumps(dict(count=2, seconds=1.0, cpu=0.5, p50=3.0, p99=4.0)))
"""
# Writes twice a saga where it is measured, and finds nothing of anybody else.
_WRITER = f"""{_BEGIN}
def mark():
    print("mark", flush=True)
    sys.stdin.readline()

if url:
    import psycopg
    database = psycopg.connect(url, autocommit=True)
    database.execute("CREATE TABLE mine ()")
    database.execute("INSERT INTO mine DEFAULT VALUES")
mark()
for _ in range(4 if url else 0):
    with database.transaction(), database.transaction():  # a savepoint is no commit
        database.execute("INSERT INTO mine DEFAULT VALUES")
    with database.transaction(force_rollback=True):  # nor what is taken back
        database.execute("INSERT INTO mine DEFAULT VALUES")
    database.execute("SELECT count(*) FROM mine")  # nor what only reads
mark()
for _ in range(9 if url else 0):
    database.execute("INSERT INTO mine DEFAULT VALUES")
{_END}"""


@pytest.fixture(autouse=True)
def on_the_server_of_the_tests(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The section would start one; that it asks for `fsync` is all there is to see of that."""

    def served(*, fsync: bool) -> AbstractContextManager[Server]:
        assert fsync
        return nullcontext(postgres)

    monkeypatch.setattr(contest, "served", served)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a program of this text, to stand in for the Python of a peer."""

    def made(text: str) -> Path:
        place = tmp_path / "python"
        place.write_text(text)
        place.chmod(0o700)
        return place

    return made


def measured(folder: Path, *words: str, peers: tuple[str, ...] = ()) -> Report:
    return contest.measure_peers(
        parse(["peers", "--rounds", "1", "--folder", str(folder), *words], peers)
    )


def test_ours_is_measured_as_the_others_are_in_a_process_of_its_own(tmp_path: Path) -> None:
    report = measured(tmp_path, "--count", "3", "--in-flight", "2")
    assert not report.failed
    assert [one.who for one in report.figures] == ["saga", "saga, starts too"] * 4
    assert [one.where for one in report.figures] == ["files"] * 4 + ["PostgreSQL"] * 4
    assert "ours is" in report.text()
    assert max(map(len, report.text().splitlines())) <= 80
    assert all(one.durable in " ".join(report.text().split()) for one in OURS)


def test_commits_are_counted_where_there_is_a_server_to_ask(tmp_path: Path) -> None:
    report = measured(tmp_path, "--count", "3", "--in-flight", "1")
    commits = {(one.where, one.workload): one.commits for one in report.figures}
    assert commits["files", "happy"] == commits["files", "compensated"] == 0
    # A start, a claim and each transition; what the process says of itself comes to them.
    assert 6 <= commits["PostgreSQL", "happy"] < 8 <= commits["PostgreSQL", "compensated"] < 10
    assert all(one.fsync in report.tables[0] for one in report.figures)
    assert "commits" not in report.tables[0]
    assert "fsync" not in report.tables[2]


def test_a_peer_on_a_server_has_an_empty_database_of_its_own_that_is_gone_afterwards(
    tmp_path: Path, program: Callable[[str], Path], postgres: Server
) -> None:
    writer, before = program(_WRITER), databases(postgres)
    for _ in range(2):
        found = running.measured(ABSURD, writer, postgres, tmp_path, ("happy", 2, 2))
        assert found is not None
        assert (found.who, found.where, found.sagas_per_second) == ("Absurd", "PostgreSQL", 2.0)
        # Four between the marks for two sagas; one more may be the server's own.
        assert 2 <= found.commits <= 2.5
        assert found.wal > 0
        assert databases(postgres) == before


def test_a_peer_on_files_is_given_none(tmp_path: Path, program: Callable[[str], Path]) -> None:
    found = running.measured(ON_FILES, program(_WRITER), None, tmp_path, ("happy", 2, 2))
    assert found is not None
    assert (found.who, found.where) == ("agent-saga", "files")
    assert (found.commits, found.wal, found.server) == (0, 0, 0)


def databases(server: Server) -> set[str]:
    with psycopg.connect(server.url) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


def test_only_the_kind_of_database_is_measured_that_a_chosen_peer_is_on() -> None:
    def who(peer: str, *, server: bool) -> list[str]:
        return [one.who for one in contenders((peer,), 1, server=server)]

    assert who("agent-saga", server=False) == ["saga", "agent-saga"]
    assert who("agent-saga", server=True) == []
    assert who("absurd-sdk", server=False) == []
    assert who("absurd-sdk", server=True) == ["saga", "Absurd", "Absurd, poll 1 ms"]
    assert who("dbos", server=False) == who("dbos", server=True) == ["saga", "DBOS"]


def test_a_peer_that_cannot_be_installed_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(peer: str, _: Path) -> Path:
        raise NotInstalledError(f"installing {peer} failed")

    monkeypatch.setattr(contest, "python_of", refused)
    report = measured(tmp_path, "--count", "2", "--in-flight", "1", peers=("dbos",))
    assert report.failed
    assert [(one.who, one.where) for one in report.figures] == [
        ("saga", where) for where in ("files", "files", "PostgreSQL", "PostgreSQL")
    ]
    assert "dbos is missing: installing dbos failed" in report.text()


_NEVER = "it never says where it is measured"
BROKEN = {
    "it ends with an error": f"{_BEGIN}\nsys.exit(3)",
    "it ends where it is measured": f"{_BEGIN}\nprint('mark', flush=True)\nos._exit(3)",
    "it says nothing": _BEGIN,
    _NEVER: f"{_BEGIN}\n{_END}",
    "it hangs": f"{_BEGIN}\ntime.sleep(60)",
    "it hangs after its last line": f"{_BEGIN}\n{_END}\nos.close(1)\ntime.sleep(60)",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_peer_that_breaks_down_has_no_figure_and_leaves_no_database(
    text: str,
    tmp_path: Path,
    program: Callable[[str], Path],
    postgres: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(running, "_PATIENCE", 2.0 if "sleep" in text else 30.0)
    broken, before = program(text), databases(postgres)
    assert running.measured(ABSURD, broken, postgres, tmp_path, ("happy", 2, 1)) is None
    said = capsys.readouterr().err
    assert said.startswith("Absurd: ")
    assert ("where measuring begins" in said) == (text is BROKEN[_NEVER])
    assert ("should be its timing" in said) == (text is _BEGIN)
    assert ("timed out after 2.0 seconds" in said) == ("sleep" in text)
    assert databases(postgres) == before


def test_a_peer_without_a_figure_is_a_failure_and_the_others_are_measured(
    tmp_path: Path, program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = program(BROKEN["it ends with an error"])
    monkeypatch.setattr(contest, "python_of", lambda *_: broken)
    report = measured(tmp_path, "--count", "2", "--in-flight", "1", peers=("absurd-sdk",))
    assert report.failed
    assert [(one.who, one.where) for one in report.figures] == [("saga", "PostgreSQL")] * 2


def test_calls_come_from_so_many_threads_and_each_number_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marks: list[int] = []
    numbers: list[int] = []
    together = threading.Barrier(3, timeout=10)

    def run(number: int) -> None:
        if number >= 0:
            together.wait()
        numbers.append(number)

    monkeypatch.setattr(timing, "mark", lambda: marks.append(len(numbers)))
    found = timing.drive_calls(run, 9, 3)
    assert marks == [timing.WARM_UP, timing.WARM_UP + 9]
    assert sorted(numbers) == list(range(-timing.WARM_UP, 9))
    assert found.count == 9


def test_many_in_flight_are_marked_where_they_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    marks: list[int] = []
    numbers: list[int] = []
    monkeypatch.setattr(timing, "mark", lambda: marks.append(len(numbers)))

    async def run(number: int) -> None:
        numbers.append(number)

    asyncio.run(timing.drive(run, 5, 2))
    assert marks == [timing.WARM_UP, timing.WARM_UP + 5]


@pytest.mark.parametrize("peer", peer_names())
def test_every_version_of_a_peer_is_pinned(peer: str) -> None:
    lines = (HERE / f"{peer}.txt").read_text("utf-8").split()
    assert any(line.startswith(f"{peer}==") for line in lines)
    assert all("==" in line for line in lines)


def test_every_program_is_there_and_says_how_it_is_tuned() -> None:
    for one in (*OURS, *PEERS):
        assert ast.get_docstring(ast.parse((HERE / f"{one.program}.py").read_text("utf-8")))
        assert one.durable
