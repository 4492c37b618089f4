"""`saga purge` as people and timers run it; and as it is killed. On both databases."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.copies import copy_run
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.cli.shell import Shell
from tests.client.retention import Archive
from tests.databases import Databases

MANY = 1500


@pytest.fixture
def archive(databases: Databases) -> Iterator[Archive]:
    """With a run `done` that ended 31 days ago. The laws hold at the end, and all verifies."""
    archive = Archive(databases)
    archive.after(-31)
    archive.run(archive.plain, "done")
    archive.after(31)
    yield archive
    archive.laws_hold()
    archive.client.close()


def filled(archive: Archive, most: int) -> None:
    """As many runs like `done`; of these the ledger knows nothing."""
    with_all = Database(archive.url, Keyring())
    names = [f"copy-{number:05d}" for number in range(most)]
    copy_run(with_all, "done", names, most)
    with_all.close()
    (one,) = archive.ledger
    copies = [{**one, "run_id": name, "key": one["key"].replace("done", name)} for name in names]
    archive.ledger += copies


def test_it_says_what_went_and_what_was_kept(archive: Archive, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    archive.run(archive.plain, "young")
    archive.start(archive.plain, "waits")
    words = ("purge", "--db", archive.url, "--older-than", "30d")
    dry = shell.saga(*words, "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert "Would purge 1 run that ended before" in dry.out
    assert dry.out.splitlines()[-2:] == ["1     has not ended", "1     ended later than that"]
    assert archive.ids() == ["done", "waits", "young"]
    answer = shell.json(*words)
    assert set(answer) == {"runs", "kept", "before", "dry_run"}
    assert (answer["runs"], answer["kept"]) == (1, {"running": 1, "young": 1})
    for verb in ("show", "why", "wait"):
        gone = shell.saga(verb, "done", "--db", archive.url, "--json")
        assert (gone.code, gone.out, gone.error["error"]) == (3, "", "UnknownRun")
        assert "ended (completed at 20" in gone.error["message"]
        assert "purged at 20" in gone.error["message"]
    verified = shell.saga("verify", "--db", archive.url)
    assert verified.out.startswith("2 runs and 1 tombstone verified, nothing is damaged")


@pytest.mark.parametrize("words", [(), ("--older-than", "-1"), ("--older-than", "30")])
def test_it_asks_how_long_ago(tmp_path: Path, words: tuple[str, ...]) -> None:
    answer = Shell(tmp_path).saga("purge", *words, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_one_that_is_ended_in_the_midst_has_purged_whole_runs(
    archive: Archive, tmp_path: Path, number: signal.Signals
) -> None:
    shell = Shell(tmp_path)
    filled(archive, MANY)
    words = ("purge", "--db", archive.url, "--older-than", "30d")
    process = shell.begin(*words)
    until = time.monotonic() + 20
    while archive.query("SELECT count(*) FROM tombstones") == [(0,)]:
        assert time.monotonic() < until
        time.sleep(0.005)
    process.signal(number)
    ended = process.end()
    assert ended.code in (130, -signal.SIGKILL)
    if number is signal.SIGINT:
        assert "runs or more went, each as a whole" in ended.err
    ((gone,),) = archive.query("SELECT count(*) FROM tombstones")
    assert 0 < gone < MANY + 1
    assert archive.query("SELECT count(*) FROM runs") == [(MANY + 1 - gone,)]
    found = archive.client.verify()
    assert (found.ok, found.tombstones) == (True, gone)
    assert shell.json(*words)["runs"] == MANY + 1 - gone
    assert archive.query("SELECT count(*) FROM journal") == [(0,)]


def test_two_at_once_share_the_work(archive: Archive, tmp_path: Path) -> None:
    """Each run goes once, and the line of the tombstones has no gap."""
    filled(archive, MANY)
    shell = Shell(tmp_path)
    words = ("purge", "--db", archive.url, "--older-than", "30d", "--json")
    ended = [process.end() for process in [shell.begin(*words), shell.begin(*words)]]
    assert [(one.code, one.err) for one in ended] == [(0, "")] * 2
    assert sum(one.json["runs"] for one in ended) == MANY + 1
    assert archive.query("SELECT count(*), max(number) FROM tombstones") == [(MANY + 1,) * 2]
