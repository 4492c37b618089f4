"""Commits: of several runs at once, and in doubt."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from saga.client import Client
from saga.errors import DatabaseError
from saga.journal import sqlite
from saga.journal.append import Append, build_append
from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import load
from saga.journal.sqlite import library
from saga.journal.verify import verify_database
from saga.journal.writer import Outcome, Writer
from saga.machine.commands import Cancel, Rejected
from saga.machine.decide import transition
from tests.databases import Databases, files_only
from tests.journal.world import BYSTANDER, opened, trip, versions

Copy = Callable[[str | None], str]


@pytest.fixture
def url(databases: Databases) -> str:
    return databases.fresh()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """With five runs that have just been started."""
    client = Client(url)
    for number in range(5):
        client.start(trip, {"id": "t", "mode": "fine"}, run_id=f"r{number}")
    client.close()
    database = opened(url, None)
    yield database
    with database.connection() as connection:
        assert verify_database(connection, database.keys) == []
    database.close()


def cancelling(database: Database, run_id: str) -> Append:
    """The append of a cancel, as anybody may write it."""
    history = database.read(lambda c: load(c, database.keys, Specs(database.keys), run_id))
    command = Cancel(at=history.at, reason="enough", actor="eve")
    events = transition(history.spec, history.state, command)
    assert not isinstance(events, Rejected)
    return build_append(
        database.keys,
        history.state,
        events,
        ["cancel"],
        seq=history.version + 1,
        previous=history.seal,
        at=history.at,
        due=history.at if history.state.phase != "ended" else None,
    )


def written(database: Database, appends: Sequence[Append]) -> Outcome:
    """What a writer makes of them in one batch."""
    outcomes: list[Outcome] = []
    writer = Writer(database, outcomes.append)
    writer.append(appends)
    writer.start()
    writer.close(30)
    assert len(outcomes) == 1
    return outcomes[0]


# ---- group commit


def test_a_lost_race_of_one_run_fails_that_run_only(database: Database, url: str) -> None:
    appends = [cancelling(database, f"r{number}") for number in range(5)]
    other = Client(url)
    other.cancel("r2", reason="first", actor="bob")
    other.close()
    failed = {append.run_id: failure for append, failure in written(database, appends)}
    assert [run_id for run_id, failure in failed.items() if failure] == ["r2"]
    assert failed["r2"] is not None
    assert failed["r2"].conflict
    assert set(versions(database).values()) == {2}


def test_a_record_that_the_database_refuses_fails_that_run_only(database: Database) -> None:
    appends = [cancelling(database, f"r{number}") for number in range(5)]
    appends[3].head = ("no phase", *appends[3].head[1:])
    failed = {append.run_id: failure for append, failure in written(database, appends)}
    assert [run_id for run_id, failure in failed.items() if failure] == ["r3"]
    assert failed["r3"] is not None
    assert not failed["r3"].conflict
    assert versions(database) == {"r0": 2, "r1": 2, "r2": 2, "r3": 1, "r4": 2}


@pytest.mark.parametrize("before", range(8))
def test_after_a_record_that_fails_the_next_ones_are_written(
    database: Database, url: str, before: int, caplog: pytest.LogCaptureFixture
) -> None:
    """However often the connection has written before: what is prepared there may not be yet.

    And nobody is warned of what is handled here.
    """
    client = Client(url)
    for number in range(5, 5 + before):
        client.start(trip, {"id": "t", "mode": "fine"}, run_id=f"r{number}")
    good = [cancelling(database, f"r{number}") for number in range(5 + before)]
    client.cancel("r0", reason="first", actor="bob")
    client.close()
    lost, refused, *good = good
    refused.head = ("no phase", *refused.head[1:])
    outcomes = SimpleQueue[Outcome]()
    writer = Writer(database, outcomes.put)
    writer.start()
    for append in [*good[:before], lost, good[before], refused, good[before + 1]]:
        writer.append([append])
        ((_, failure),) = outcomes.get(timeout=30)
        assert (failure is None) == (append in good), failure
    writer.close(30)
    assert not caplog.records


def test_two_actions_under_one_key_are_impossible(databases: Databases, copy: Copy) -> None:
    """The primary key of `actions` is the idempotency key: same key, other intent, no record."""
    database = opened(copy(None), None)
    with database.connection() as connection, pytest.raises(databases.refusal):
        driver(connection).execute(
            "INSERT INTO actions SELECT key, 'other', step, item, direction, 2, effect, "
            "effect_version, target, 'sha256:0', 'intended', 0, '{}', NULL FROM actions"
        )
    database.close()


# ---- a COMMIT that returns an error may have happened


@contextmanager
def failing_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, after: bool, times: int = 1
) -> Iterator[None]:
    """COMMIT returns an error, after or before it has happened."""
    commit, left = database.commit, [times]

    def failing(connection: Any) -> None:
        if left[0]:
            left[0] -= 1
            if after:
                commit(connection)
            raise database.backend.error("nobody knows")
        commit(connection)

    with monkeypatch.context() as patch:
        patch.setattr(database, "commit", failing)
        yield
    assert left == [0]


def test_a_batch_that_was_committed_in_spite_of_an_error_counts(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    appends = [cancelling(database, f"r{number}") for number in range(5)]
    with failing_commit(database, monkeypatch, after=True):
        assert [failure for _, failure in written(database, appends)] == [None] * 5
    assert set(versions(database).values()) == {2}


def test_a_batch_that_was_not_committed_is_redone_one_run_at_a_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    appends = [cancelling(database, f"r{number}") for number in range(5)]
    with failing_commit(database, monkeypatch, after=False, times=2):
        failures = [failure is not None for _, failure in written(database, appends)]
    assert failures == [True, False, False, False, False]
    assert versions(database) == {"r0": 1, "r1": 2, "r2": 2, "r3": 2, "r4": 2}


@pytest.mark.parametrize("after", [True, False])
def test_a_client_is_told_what_has_become_of_its_command(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch, after: Any
) -> None:
    client = Client(url)
    client.runs()
    used = used_by(client)
    with failing_commit(used, monkeypatch, after=after):
        if after:
            assert client.cancel("r1", reason="enough", actor="eve").outcome == "compensated"
        else:
            with pytest.raises(DatabaseError, match="nobody knows"):
                client.cancel("r1", reason="enough", actor="eve")
    assert versions(database)["r1"] == (2 if after else 1)
    with failing_commit(used, monkeypatch, after=after):
        if after:
            client.start(trip, {"id": "t", "mode": "fine"}, run_id="new")
        else:
            with pytest.raises(DatabaseError, match="nobody knows"):
                client.start(trip, {"id": "t", "mode": "fine"}, run_id="new")
    assert ("new" in versions(database)) is after
    assert client.start(trip, {"id": "t", "mode": "fine"}, run_id="new").phase == "running"
    client.close()


def used_by(client: Client) -> Database:
    """The database that a client has opened."""
    source: Any = client._source
    opened_: Database = source.database()
    return opened_


@files_only
def test_an_io_error_at_commit_ends_the_process(copy: Copy) -> None:
    """What is on the disk then, only a fresh look can tell; a second fsync would lie."""
    url = copy(None)
    child = os.fork()
    if not child:
        database = opened(url, None)

        def failing(connection: Any) -> None:
            error = library.OperationalError("disk I/O error")
            error.sqlite_errorcode = library.SQLITE_IOERR | (4 << 8)  # at fsync
            raise error

        database.commit = failing  # type: ignore[method-assign]
        written(database, [cancelling(database, BYSTANDER)])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    database = opened(url, None)
    assert versions(database)[BYSTANDER] == 1
    database.close()


class _Counted(sqlite.TurnLock):
    """How often somebody has asked for the turn."""

    times = 0

    def _take(self, descriptor: int) -> None:
        type(self).times += 1
        super()._take(descriptor)


@files_only
def test_who_waits_too_long_for_the_turn_is_told_so_and_goes_on_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody is stopped in the middle of a write: that must not be the end of the writer.

    All wait once: one after the other, they would keep the beat waiting for hours.
    """
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    batch = [cancelling(database, f"r{number}") for number in range(5)]
    with sqlite.TurnLock(Path(database.name), database.clock).held():
        monkeypatch.setattr(database, "_turn", _Counted(Path(database.name), database.clock))
        for _, failure in written(database, batch):
            assert failure is not None
            assert not failure.conflict
            assert "held the turn to write" in str(failure.error)
        assert _Counted.times == 1
    assert [failure for _, failure in written(database, batch)] == [None] * 5


def test_a_signal_in_the_middle_of_a_write_is_not_lost(copy: Copy) -> None:
    """Ctrl-C while a transaction is open: it is rolled back, and the turn is given on."""
    database = opened(copy(None), None)

    def interrupted(connection: Any) -> None:
        connection.exec_driver_sql("UPDATE runs SET fence = fence + 1")
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        database.write(interrupted)
    fences = database.write(lambda c: c.exec_driver_sql("SELECT max(fence) FROM runs").scalar_one())
    assert fences < 10
    database.close()
