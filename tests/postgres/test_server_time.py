"""Time between processes is the server's: a machine may be an hour wrong, and nothing is early."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from saga import App, Call, Client, Effect, NothingToUndo, Refused, Saga, Step, input_of
from saga.clock import Clock
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from saga.journal.server_clock import ServerClock
from tests.cases.scripted import Plan, Proof
from tests.cases.skewed import Reset, Skewed, skewed
from tests.cases.waiting import until, until_then
from tests.cases.world import World
from tests.orchestrator.running import running

HOUR = 3600.0
ROOT = Path(__file__).parents[2]
# The whole command line on a machine whose wall clock is wrong, to everything that asks for it.
_WRONG = """
import sys, time
right, seconds = time.time, float(sys.argv.pop(1))
time.time = lambda: right() + seconds
from saga.cli import main
main()
"""


class Hand(Clock):
    """A machine all of whose clocks a test sets; its wall clock is an hour ahead."""

    at = 1000.0

    def now(self) -> float:
        return HOUR + self.at

    def monotonic(self) -> float:
        return self.at


told: list[float] = []


async def look(call: Call[Plan]) -> Proof:
    told.append(call.deadline.timestamp() - time.time())
    raise Refused("nothing is there")


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_two_machines_whose_clocks_differ_by_an_hour_see_the_same_time(
    world: World, seconds: float
) -> None:
    with wrong(world, seconds) as client:
        for number, one in enumerate([client, world.client]):
            began = time.time()
            run = one.start(world.app.sagas[0], {}, run_id=f"r{number}")
            assert run.due_at is not None
            assert began - 1 < run.due_at.timestamp() < time.time() + 1
        for one in (client, world.client):
            (due,) = one.health().due
            assert due.runs == 2
            assert 0 <= due.late < 10


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_retry_is_due_when_it_is_due_however_wrong_the_clocks_are(
    world: World, seconds: float
) -> None:
    """Each attempt is made by another machine than the one that has recorded when it is due."""
    config: dict[str, Any] = {"names": ["s1"], "retry": {"first": 1.0}}
    world.of(**config).start(s1=["not_sent", "not_sent", "land"])
    folder = str(world.folder)
    for number, ahead in enumerate([seconds, -seconds, 0.0]):
        one = world.process(skewed, world.url, folder, ahead, config, {"lease": 0.6})
        world.called("s1", number + 1)
        _recorded(world, number + 1)
        one.kill()
    assert world.rests().outcome == "completed"
    calls = [line["at"] for line in world.ledger.calls("s1")]
    assert all(0.9 < then - now < 10 for now, then in pairwise(calls)), calls


def test_absence_is_not_believed_early_by_a_machine_whose_clock_is_ahead(world: World) -> None:
    """The first process dies in the call; until its last byte can have left nobody asks."""
    config = {"names": ["s1"], "provider": "asked", "timeout": 2.0}
    world.of(**config).start(s1="hold:gate land")
    folder = str(world.folder)
    first = world.process(skewed, world.url, folder, -HOUR, config, {"lease": 0.6})
    world.called("s1")
    ((sent,),) = world.query("SELECT due_at FROM runs")
    first.kill()
    world.ledger.open("gate")
    world.process(skewed, world.url, folder, HOUR, config, {"lease": 0.6})
    assert world.rests().outcome == "completed"
    visible = sent + 0.1 + 0.02  # `send_by`, what is under way then, and until it is seen
    asked = [line["at"] for line in world.ledger.lines("ask")]
    assert len([at for at in asked if at >= visible]) == 2  # those that count
    _, again = (line["at"] for line in world.ledger.calls("s1"))
    assert visible + 0.02 <= again < sent + 10


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_call_is_told_its_deadline_as_its_own_machine_counts(
    world: World, seconds: float
) -> None:
    """`call.deadline - now` is what user code does, and `saga.http` too."""
    plan = input_of(Plan)
    effect = Effect("look", look, timeout=20)
    step = Step("s1", effect, args=plan, compensation=NothingToUndo("reads only"))
    app = App(Saga("looking", plan, [step]))
    told.clear()

    async def main() -> None:
        async with running(world, app, clock=Skewed(seconds)):
            world.client.start(app.sagas[0], {}, run_id="r1")
            await until_then(lambda: told, "it is called")

    asyncio.run(main())
    assert 15 < told[0] - seconds <= 20


def test_a_wall_clock_that_is_set_while_it_works_moves_nothing(world: World) -> None:
    world.of(names=["s1"], retry={"first": 0.5})
    clock = Skewed()

    async def main() -> None:
        async with running(world, clock=clock):
            world.start(s1=["not_sent", "not_sent", "not_sent", "land"])
            for seconds in (HOUR, -HOUR, 0.0):
                made = len(world.ledger.calls())
                clock.seconds = seconds
                await until_then(partial(_called_more, world, made), "it goes on")
            await until_then(lambda: world.show().phase == "ended", "it ends")

    asyncio.run(main())
    calls = [line["at"] for line in world.ledger.calls()]
    assert all(0.45 < then - now < 10 for now, then in pairwise(calls)), calls


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_server_whose_clock_is_set_is_followed_and_no_record_goes_back(
    world: World, seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    world.of(names=["s1", "s2"])
    clock = Reset()

    async def main() -> None:
        async with running(world, clock=clock):
            world.start(s1="hold:gate land")
            await until_then(lambda: world.ledger.lines("held"), "it is held")
            clock.seconds = seconds
            await until_then(lambda: "was set" in caplog.text, "it is noticed")
            world.ledger.open("gate")
            await until_then(lambda: world.show().phase == "ended", "it ends", 20)

    asyncio.run(main())
    times = [at for (at,) in world.query("SELECT at FROM journal ORDER BY seq")]
    assert times == sorted(times)
    if seconds > 0:
        world.broken = {1}  # by the ledger's clock the records are from the future
    assert world.show().outcome == "completed"
    assert len(world.ledger.calls("s1")) == 1


def test_of_what_the_answers_leave_possible_the_earliest_is_taken(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = Hand()
    clock = ServerClock(machine)
    assert clock.now() == machine.now()  # it has to be something
    clock.learn(5000.0, 999.0, 1000.0)  # it was asked for a second
    assert clock.now() == 5000.0  # and said so in the end at the latest
    clock.learn(5000.7, 1000.0, 1000.1)
    assert clock.now() == pytest.approx(5000.6)
    clock.learn(5000.7, 900.0, 1100.0)  # a slow answer says nothing
    assert clock.now() == pytest.approx(5000.6)
    machine.at += 100
    assert clock.now() == pytest.approx(5100.6)
    assert clock.local(clock.now()) == pytest.approx(machine.now())
    assert not caplog.text
    clock.learn(5000.0, 1100.0, 1100.0)
    assert clock.now() == 5000.0
    assert "-100.6 s from one answer to the next: it was set" in caplog.text


def test_the_command_line_on_a_wrong_machine_is_a_client_and_an_orchestrator_like_any(
    world: World,
) -> None:
    """Real processes: one is an hour ahead, the next one an hour behind."""
    (world.folder / "wrong_app.py").write_text(
        "from tests.cases import scripted\n"
        f"app = scripted.app({str(world.folder)!r}, names=['s1'], retry={{'first': 1.0}})\n"
    )
    asked = '{"acts": {"s1": ["not_sent", "land"]}}'
    _saga(world, -HOUR, "start", "wrong_app:app", "chain", "r1", asked)
    _saga(world, HOUR, "orchestrator", "wrong_app:app", "--until-idle", "--poll", "0.05")
    assert "completed" in _saga(world, -HOUR, "show", "r1")
    first, second = (line["at"] for line in world.ledger.calls())
    assert 0.9 < second - first < 10


@contextmanager
def wrong(world: World, seconds: float) -> Iterator[Client]:
    """A client on a machine whose clock is wrong."""
    with closing(Client(world.url, clock=Skewed(seconds))) as client:
        yield client


def test_a_database_has_the_time_as_soon_as_it_is_open(world: World) -> None:
    with closing(Database(world.url, Keyring(), clock=Skewed(HOUR))) as database:
        assert abs(database.now() - time.time()) < 1


def _called_more(world: World, than: int) -> bool:
    return len(world.ledger.calls()) > than


def _recorded(world: World, attempts: int) -> None:
    settled = "SELECT count(*) FROM actions WHERE state <> 'sending' AND attempts >= ?"
    until(lambda: world.query(settled, attempts) == [(1,)], "what became of it is recorded")


def _saga(world: World, seconds: float, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _WRONG, str(seconds), *words],
        capture_output=True,
        check=False,
        cwd=world.folder,
        env={**os.environ, "SAGA_DATABASE_URL": world.url, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
