"""The database is busy, shared by many, or full: C062, C063, C065."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from saga import Call, Client
from saga.journal.sqlite import library
from tests.cases import scripted
from tests.cases.faulty_database import BusyDatabase, OnDatabase, SmallDisk
from tests.cases.ledger import Ledger
from tests.cases.odd_values import Anything, Given, returning
from tests.cases.waiting import LONG, until, until_then
from tests.cases.world import World
from tests.databases import files_only

PROCESSES, EACH = 8, 5


def start_some(url: str, folder: str, process: int) -> None:
    """Start runs, one in three of which will be refused, one in three stuck in its undo."""
    client, ledger = Client(url), Ledger(Path(folder))
    saga = scripted.app(folder).sagas[0]
    for number in range(EACH):
        acts = {"s2": ["refuse:no"]} if number % 3 else {}
        if number % 3 == 2:
            acts["undo s1"] = ["refuse:not any more"]
        try:
            client.start(saga, {"acts": acts}, run_id=f"p{process}-{number}")
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            ledger.note("trouble", error=repr(error))


def list_all(url: str, folder: str) -> None:
    """Read lists until the gate is opened."""
    client, ledger = Client(url), Ledger(Path(folder))
    longest = 0.0
    while not ledger.is_open("enough"):
        try:
            client.runs(limit=20)
            client.cases()
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            ledger.note("trouble", error=repr(error))
    ledger.note("read", longest=longest)


def resolve_all(url: str, folder: str) -> None:
    """Accept every case, as it comes, until the gate is opened."""
    client, ledger = Client(url), Ledger(Path(folder))
    while not ledger.is_open("enough"):
        try:
            for case in client.cases():
                client.resolve(case.id, "accept", reason="it stays")
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            ledger.note("trouble", error=repr(error))


def test_many_writers_and_readers_on_one_file(world: World) -> None:
    """C062, jentic/jentic-one#529, ovumcy/ovumcy-web#155, jswest/bartleby#568,
    xorcise-ai/xorcise#107.

    8 processes start runs, 4 orchestrators work on them, 2 readers list, one person decides.
    """
    folder = str(world.folder)
    world.client.start(world.app.sagas[0], {}, run_id="first")
    workers = [world.orchestrator() for _ in range(4)]
    readers = [world.process(list_all, world.url, folder) for _ in range(2)]
    person = world.process(resolve_all, world.url, folder)
    starters = [world.process(start_some, world.url, folder, n) for n in range(PROCESSES)]
    assert [starter.ended() for starter in starters] == [0] * PROCESSES
    count = PROCESSES * EACH + 1
    until(
        lambda: world.query("SELECT count(*) FROM runs WHERE phase = 'ended'") == [(count,)],
        "all runs have ended",
    )
    world.ledger.open("enough")
    assert [process.ended() for process in (*readers, person)] == [0] * 3
    for worker in workers:
        worker.terminate()
        assert worker.ended() == 0

    assert world.ledger.lines("trouble") == []
    outcomes = {run.id: run.outcome for run in world.client.runs(limit=1000)}
    assert len(outcomes) == count
    for starter in range(PROCESSES):
        assert [outcomes[f"p{starter}-{number}"] for number in range(5)] == [
            "completed", "compensated", "settled", "completed", "compensated"
        ]  # fmt: skip
    keys = [line["key"] for line in world.ledger.landed()]
    assert len(keys) == len(set(keys))
    assert len({line["pid"] for line in world.ledger.calls()}) > 1
    for process in world.processes:
        assert "locked" not in process.log
        assert "Traceback" not in process.log
    assert "locked" not in str(world.client.runs(limit=1000))


def test_twenty_connections_open_a_new_file_at_the_same_time(tmp_path: Path) -> None:
    """C062, last: one database comes of it."""
    url, together = f"sqlite:///{tmp_path / 'saga.db'}", threading.Barrier(20)
    saga, found = scripted.app(str(tmp_path)).sagas[0], list[Any]()

    def begin(number: int) -> None:
        client = Client(url)
        together.wait()
        try:
            found.append(client.start(saga, {}, run_id=f"r{number}").id)
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            found.append(error)
        client.close()

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == sorted(f"r{number}" for number in range(20))


@files_only
@pytest.mark.parametrize("place", ["before the intent", "at the receipt", "in the undo"])
def test_a_locked_database_is_waited_for_and_no_call_is_made_again(
    world: World, place: str
) -> None:
    """C063, dbos-inc/dbos-transact-py#679, graphile/worker#387: somebody holds SQLite's own lock.

    Left for later: 40001 and 40P01 (PostgreSQL).
    """
    gate = {"at the receipt": "s2", "in the undo": "undo s1"}.get(place)
    acts = {gate: ["land hold:gate"]} if gate else {}
    world.client.start(world.app.sagas[0], {"acts": {**acts, "s3": ["refuse:no"]}}, run_id="r1")
    foreign = library.connect(str(world.folder / "saga.db"), isolation_level=None)
    if gate is None:
        foreign.execute("BEGIN IMMEDIATE")
    worker = world.orchestrator()
    if gate is not None:
        world.held("gate")
        foreign.execute("BEGIN IMMEDIATE")
        world.ledger.open("gate")
    beats = world.query("SELECT max(beat) FROM orchestrators")
    over = time.monotonic() + 0.7
    until(lambda: time.monotonic() > over, "it has been locked for a while")
    assert world.query("SELECT max(beat) FROM orchestrators") == beats
    assert len(world.ledger.calls()) == {None: 0, "s2": 2, "undo s1": 5}[gate]
    foreign.execute("ROLLBACK")
    foreign.close()

    assert world.ends().outcome == "compensated"
    assert world.ledger.order() == ["s1", "s2", "undo s2", "undo s1"]
    assert {call["attempt"] for call in world.ledger.calls()} == {1}
    assert len(world.ledger.calls()) == 5
    _nothing_of_the_database_is_an_error_of_a_step(world, worker.log)


@pytest.mark.parametrize("times", [1, 3])
def test_an_error_of_the_database_while_recording_is_no_error_of_the_step(
    world: World, times: int
) -> None:
    """C063, the same as an error that comes back, several times in a row, at every record."""
    faults = [0]

    def answer(_: Call[Given]) -> Any:
        faults[0] = times
        return Anything(text="found")

    app = returning(str(world.folder), answer)
    world.client.start(app.sagas[0], {}, run_id="r1")

    async def main() -> None:
        orchestrator = OnDatabase(app, world.url, database=BusyDatabase, given=faults, poll=0.05)
        async with orchestrator:
            faults[0] = times
            await asyncio.wait_for(orchestrator.run_until_idle(), LONG)

    asyncio.run(main())
    run = world.show()
    assert (run.outcome, run.steps[0].attempts, run.steps[1].attempts) == ("completed", 1, 1)
    assert len(world.ledger.calls()) == 2
    assert run.steps[0].receipt["text"] == "found"
    _nothing_of_the_database_is_an_error_of_a_step(world, "")


def _nothing_of_the_database_is_an_error_of_a_step(world: World, log: str) -> None:
    assert "locked" not in log
    for (body,) in world.query("SELECT body FROM journal"):
        assert "locked" not in body
        assert "OperationalError" not in body


LARGE = "x" * 60_000


@files_only
@pytest.mark.parametrize("place", ["before the intent", "between effect and receipt"])
def test_a_full_disk_stops_calls_and_loses_nothing(
    world: World, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """C065, tinyhumansai/openhuman#3911, #4067, yigit/android-priority-jobqueue#378.

    SQLite's own "disk is full". No call without a stored intent; what a call brought is recorded as
    soon as there is room. Left for later: PostgreSQL in read-only mode.
    """
    full = threading.Event()

    def answer(_: Call[Given]) -> Any:
        if place == "between effect and receipt":
            full.set()
        return Anything(text=LARGE)

    app = returning(str(world.folder), answer)
    given = {"text": LARGE} if place == "before the intent" else {}
    world.client.start(app.sagas[0], given, run_id="r1")
    caplog.set_level(logging.INFO)

    async def main() -> None:
        orchestrator = OnDatabase(app, world.url, database=SmallDisk, given=full, poll=0.05)
        async with orchestrator:
            if place == "before the intent":
                full.set()
            running = asyncio.create_task(orchestrator.run_until_idle())
            await until_then(lambda: "is full" in caplog.text, "it notices")
            calls = world.ledger.calls()
            assert len(calls) == (0 if place == "before the intent" else 1)
            full.clear()
            await asyncio.wait_for(running, LONG)

    asyncio.run(main())
    assert world.show().outcome == "completed"
    assert [call["attempt"] for call in world.ledger.calls()] == [1, 1]
    assert len(world.ledger.landed()) == 2
    assert world.query("PRAGMA integrity_check") == [("ok",)]
    alarms = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(alarms) <= 4
