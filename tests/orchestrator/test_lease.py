"""Law 6: who lost its fence appends nothing as owner, and calls nothing after its lease."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from typing import Any

import pytest

from saga import Call, NotSent, Refused
from saga.journal.database import Database
from saga.journal.sqlite import library
from saga.orchestrator import shift
from saga.orchestrator.refusals import refused_records
from tests.cases.faulty_database import OnDatabase
from tests.cases.ledger import Ledger
from tests.cases.scripted import Plan, Proof
from tests.cases.strangers import stranger
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.databases import files_only
from tests.moved_clock import MovedClock
from tests.orchestrator.one_step import one_step
from tests.orchestrator.running import running

LEASE = 0.6


def fences(world: World, run_id: str = "r1") -> list[tuple[str, int]]:
    """Each record's commands, with the fence of the owner that wrote it (0: it was no owner)."""
    rows = world.query("SELECT command, body FROM journal WHERE run_id = ? ORDER BY seq", run_id)
    return [(command, json.loads(body)["fence"]) for command, body in rows]


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_who_slept_past_its_lease_calls_nothing_and_appends_nothing_as_owner(
    world: World, kind: str
) -> None:
    """A process stopped in a call (SIGSTOP), taken over, and going on (SIGCONT).

    The provider only ever says "in progress", so nobody but the sleeper can know that it landed. An
    async call of it is cut off as soon as it wakes up; a plain one cannot be, and is heard.
    """
    world.of(provider="asked", timeout=30, retry={"attempts": 1000})
    world.of(threaded=["s1"] if kind == "plain" else [])
    world.start(s1="hold:gate land", ask_s1="in_progress")
    sleeper = world.orchestrator(lease=LEASE)
    world.held("gate")
    ((fence,),) = world.query("SELECT fence FROM runs")
    world.stop(sleeper)
    other = world.orchestrator(lease=LEASE)
    until(lambda: world.query("SELECT fence FROM runs") > [(fence,)], "it is taken over")
    until(lambda: len(world.ledger.lines("ask")) > 2, "the new owner asks")
    sleeper.send(signal.SIGCONT)
    until(lambda: "lost its lease" in sleeper.log, "it knows")
    world.ledger.open("gate")  # now: it may have been stopped just before it looked

    if kind == "plain":
        assert world.ends().outcome == "completed"
        assert ("report", 0) in fences(world)
    else:
        until(lambda: world.ledger.lines("end"), "the call of the sleeper has ended")
    old = [fence for command, fence in fences(world) if fence]
    assert old == sorted(old)
    assert [call["name"] for call in world.ledger.calls(pid=sleeper.pid)] == ["s1"]
    assert {call["pid"] for call in world.ledger.calls("s2")} <= {other.pid}
    if kind == "async":
        _accept(world)


def _accept(world: World) -> None:
    """The provider would say "in progress" for ever: nobody wants to wait for it."""
    for process in world.processes:
        process.kill()
    assert [line for line in world.ledger.landed() if line["name"] == "s1"] == []


def jumping(world: World, seconds: float) -> dict[str, Any]:
    """Options of an orchestrator whose clock jumps once: when a sending has become durable."""
    clock = MovedClock()

    class Jumping(Database):
        given: list[float]

        @contextmanager
        def batch(self, connection: Any) -> Iterator[Any]:
            with super().batch(connection) as given:
                yield given
            if self.given and world.query("SELECT 1 FROM actions WHERE state = 'sending'"):
                clock.ahead += self.given.pop()

    return {"kind": OnDatabase, "database": Jumping, "given": [seconds], "clock": clock}


def test_no_call_is_made_after_the_lease_even_if_its_sending_is_durable(world: World) -> None:
    """Between the commit and the call the clock jumps past the lease: the call is not made."""
    world.of(names=["s1"], timeout=120.0)
    world.start()

    async def main() -> None:
        async with running(world, lease=5.0, **jumping(world, 20.0)) as orchestrator:
            first = orchestrator.id
            await until_then(lambda: world.show().outcome == "completed", "it goes on")
            assert orchestrator.id != first

    asyncio.run(main())
    assert [call["attempt"] for call in world.ledger.calls("s1")] == [2]
    assert world.show().steps[0].attempts == 2


def test_no_call_is_made_after_its_own_deadline_however_late_its_commit_came(
    world: World,
) -> None:
    """`send_by` counts from before the commit: what was durable too late was provably not sent."""
    world.of(names=["s1"], timeout=5.0, provider="neither", probe=False)
    world.start()

    async def main() -> None:
        async with running(world, lease=30.0, **jumping(world, 8.0)):
            await until_then(lambda: world.show().outcome == "completed", "it goes on")

    asyncio.run(main())
    assert [call["attempt"] for call in world.ledger.calls("s1")] == [2]
    assert world.client.cases() == []


def test_a_beat_that_finds_its_row_dead_goes_on_under_a_new_id(world: World) -> None:
    world.of(names=["s1"], provider="both").start(s1=["hold:never", "land"])

    async def main() -> None:
        async with running(world, lease=LEASE) as orchestrator:
            first = orchestrator.id
            await until_then(lambda: world.ledger.lines("held"), "a call is in flight")
            _write(world, "UPDATE orchestrators SET state = 'dead' WHERE id = ?", first)
            await until_then(lambda: orchestrator.id not in ("", first), "it has a new id")
            await until_then(lambda: world.show().outcome == "completed", "it goes on")

    asyncio.run(main())
    assert len(world.query("SELECT id FROM orchestrators")) == 2
    assert [line["error"] for line in world.ledger.lines("end")] == ["CancelledError", None]
    assert len(world.ledger.calls("s1")) == 2


@pytest.mark.parametrize("result", ["landed", "refused", "not_sent", "unknown"])
def test_what_an_owner_knows_of_a_run_that_it_lost_is_kept_as_a_report(
    world: World, result: str
) -> None:
    """Somebody else has claimed the run while its call was under way; only proof is brought."""
    taken = threading.Event()

    async def answering(call: Call[Plan]) -> Proof:
        call.resource(Ledger).called(call)
        _write(world, "UPDATE runs SET owner = 'other', fence = fence + 1")
        taken.set()
        if result == "landed":
            call.resource(Ledger).land(call)
        return _ended(call, result)

    app = one_step(world, answering)
    world.client.start(app.sagas[0], {}, run_id="r1")

    async def main() -> None:
        with stranger(world, "other"):
            await lose_it()
            assert world.query("SELECT owner, fence FROM runs") == [("other", 3)]

    async def lose_it() -> None:
        async with running(world, app, poll=5.0):
            await until_then(taken.is_set, "it is somebody else's")
            if result != "unknown":
                await until_then(lambda: ("report", 0) in fences(world), "the report is there")

    asyncio.run(main())
    assert len(world.ledger.calls()) == 1
    expected = [("start", 0), ("intend", 2)]
    assert fences(world) == expected + ([] if result == "unknown" else [("report", 0)])
    assert world.show().steps[0].state == ("sending" if result == "unknown" else result)


def _ended(call: Call[Plan], result: str) -> Proof:
    if result == "refused":
        raise Refused("no")
    if result == "not_sent":
        raise NotSent("no line")
    if result == "unknown":
        raise ConnectionError("lost")
    return Proof(receipt_id="r1", idempotency_key=call.key)


@files_only
def test_what_was_known_when_the_lease_ended_is_brought_as_evidence(world: World) -> None:
    """The answer is in, its record waits for the file, the lease ends, somebody else takes over."""
    world.of(provider="neither", probe=False, names=["s1"], timeout=30)
    world.start(s1="hold:gate land")
    sleeper = world.orchestrator(lease=LEASE)
    world.held("gate")
    with stranger(world, "other"):
        foreign = library.connect(str(world.folder / "saga.db"), isolation_level=None)
        foreign.execute("BEGIN IMMEDIATE")
        world.ledger.open("gate")
        until(lambda: world.ledger.lines("end"), "it has landed")
        foreign.execute("UPDATE runs SET owner = 'other', fence = fence + 1")
        beats = foreign.execute("SELECT beat FROM orchestrators").fetchall()
        _pass(LEASE * 2)
        assert foreign.execute("SELECT beat FROM orchestrators").fetchall() == beats
        foreign.execute("COMMIT")
        foreign.close()
        until(lambda: world.show().steps[0].state == "landed", "the evidence has arrived")
        assert fences(world)[-1] == ("report", 0)
    until(lambda: "lost its lease" in sleeper.log, "it says so")


def test_what_the_loop_changes_at_any_time_is_read_by_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease may end while the writer looks, and with it what there is in memory."""
    readers = set[threading.Thread]()

    def noted(runs: Any) -> str | None:
        readers.add(threading.current_thread())
        return refused_records(runs)

    monkeypatch.setattr(shift, "refused_records", noted)

    async def main() -> None:
        async with running(world):
            world.start()
            await until_then(lambda: world.show().phase == "ended", "it ends")

    asyncio.run(main())
    assert readers == {threading.main_thread()}


def test_after_a_lost_lease_it_goes_on_once_its_files_can_be_made(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OSError(ENOSPC, "No space left on device")] * 3

    def begun(*arguments: Any, **options: Any) -> shift.Shift:
        if failures:
            raise failures.pop()
        return shift.Shift(*arguments, **options)

    async def main() -> None:
        async with running(world) as orchestrator:
            monkeypatch.setattr(orchestrator, "_shift_type", begun)
            orchestrator._now()._lost()
            world.start()
            await until_then(lambda: world.show().phase == "ended", "it goes on")

    asyncio.run(main())
    assert not failures


def _pass(seconds: float) -> None:
    over = time.monotonic() + seconds
    until(lambda: time.monotonic() > over, "time passes")


def _write(world: World, statement: str, *values: object) -> None:
    world.query(statement, *values)
