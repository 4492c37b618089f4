"""pause, resume, db, and a database that does not take a record."""

from __future__ import annotations

import signal

import pytest

from tests.cli.doing import findings, sql, start, until
from tests.cli.shell import Process, Shell


def test_a_pause_holds_forward_calls_until_it_is_resumed(shell: Shell) -> None:
    with shell.orchestrator():
        start(shell, "t0")
        assert shell.saga("wait", "t0", "--timeout", "5s").code == 0
        words = ("--effect", "flight.book", "--reason", "double bookings?", "--by", "ada")
        pause = shell.json("pause", *words)
        assert (pause["sagas"], pause["actor"]) == (["trip@1"], "ada")
        start(shell, "t1")
        until(lambda: shell.json("why", "t1")["rule"] == "paused")
        why = shell.json("why", "t1")
        assert why["freed_by"] == "saga resume --effect flight.book"
        assert "double bookings?" in why["evidence"][0]
        assert [one["name"] for one in why["pauses"]] == ["flight.book"]
        assert findings(shell)[0] == 0
        assert shell.saga("resume", "--effect", "flight.book", "--reason", "mended").code == 0
        assert shell.saga("wait", "t1", "--timeout", "5s").code == 0


def test_an_undo_goes_on_while_its_saga_is_paused(shell: Shell) -> None:
    start(shell, "t1", "Down")
    shell.idle()
    assert shell.saga("pause", "--saga", "trip", "--reason", "strike").code == 0
    assert shell.saga("cancel", "t1", "--reason", "strike").code == 0
    shell.idle()
    assert shell.json("show", "t1")["outcome"] == "compensated"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("pause", "--reason", "x"), 2),
        (("pause", "--saga", "trip", "--effect", "hotel.book", "--reason", "x"), 2),
        (("pause", "--saga", "trip"), 2),
        (("pause", "--saga", "trip", "--reason", "  "), 2),
        (("pause", "--saga", "a b", "--reason", "x"), 2),
        (("resume", "--saga", "trip"), 5),
        (("resume",), 2),
    ],
)
def test_a_pause_that_means_nothing_is_turned_down(
    served: Shell, words: tuple[str, ...], code: int
) -> None:
    answer = served.saga(*words, "--json")
    assert (answer.code, answer.out) == (code, "")
    assert answer.error["message"]


def test_a_pause_that_holds_nothing_says_so(served: Shell) -> None:
    answer = served.saga("pause", "--provider", "shopp", "--reason", "a slip of the pen")
    assert "is the name right?" in answer.out
    assert served.saga("resume", "--provider", "shopp").code == 0


# ---- a record that the database refuses


def test_why_shows_a_record_that_the_database_refuses(shell: Shell) -> None:
    start(shell, "t1")
    start(shell, "t2")
    sql(
        shell,
        "CREATE TRIGGER no BEFORE INSERT ON journal WHEN NEW.run_id = 't1' AND NEW.seq > 1"
        " BEGIN SELECT RAISE(ABORT, 'the disk of t1 is full'); END",
    )
    process: Process = shell.begin(
        "orchestrator", "trips.py:app", "--lease", "0.5", "--poll", "0.05"
    )
    until(lambda: shell.json("why", "t1")["rule"] == "record_refused")
    why = shell.json("why", "t1")
    assert "the disk of t1 is full" in why["evidence"][0]
    assert shell.saga("wait", "t2", "--timeout", "5s").code == 0
    sql(shell, "DROP TRIGGER no")
    assert shell.saga("wait", "t1", "--timeout", "20s").code == 0
    process.signal(signal.SIGTERM)
    assert process.end().code == 0


# ---- db


def test_db_check_and_upgrade_find_nothing_to_do_on_a_new_database(shell: Shell) -> None:
    start(shell, "t1")
    found = shell.json("db", "check")
    assert (found["problems"], found["found"] == found["needed"]) == ([], True)
    assert shell.json("db", "upgrade")["changed"] is False
    assert shell.saga("db", "check").code == 0


def test_an_older_or_newer_schema_is_refused_with_the_command(shell: Shell) -> None:
    start(shell, "t1")
    sql(shell, "UPDATE alembic_version SET version_num = '0999'")
    answer = shell.saga("show", "t1")
    assert (answer.code, "0999" in answer.err) == (6, True)
    assert shell.saga("db", "check").code == 7
    assert shell.saga("db", "upgrade").code == 6
    shell.database = shell.folder / "from the future"


def test_a_file_that_is_no_database_is_left_alone(shell: Shell) -> None:
    shell.database.write_bytes(b"these are notes, not a database\n" * 100)
    before = shell.database.read_bytes()
    for words in (
        ("start", "trips.py:app", "trip", "t1", '{"city": "Rome"}'),
        ("show", "t1"),
        ("verify",),
        ("db", "check"),
        ("db", "upgrade"),
        ("orchestrator", "trips.py:app", "--until-idle"),
    ):
        answer = shell.saga(*words)
        assert answer.code == 6, (words, answer)
        assert "Traceback" not in answer.err
    assert shell.database.read_bytes() == before
    shell.database = shell.folder / "notes"


def test_the_last_command_leaves_one_whole_file_behind(shell: Shell) -> None:
    start(shell, "t1")
    shell.idle()
    assert shell.saga("show", "t1").code == 0
    assert not list(shell.folder.glob("saga.db-wal"))
    assert not list(shell.folder.glob("saga.db-life-*"))
