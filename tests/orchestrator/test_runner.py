"""The runs in memory: what is decided on, and on which state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from saga.clock import Clock
from saga.journal.append import Append, build_append
from saga.journal.history import History
from saga.journal.records import RecordTooLarge
from saga.journal.sealing import Keyring
from saga.machine.commands import Start
from saga.machine.decide import transition
from saga.machine.state import RunState, new_state
from saga.orchestrator.caller import Caller
from saga.orchestrator.compiled import CompiledSaga, compile_saga
from saga.orchestrator.held import Held
from saga.orchestrator.lanes import Lanes
from saga.orchestrator.letters import not_made
from saga.orchestrator.runner import Runner
from saga.orchestrator.threads import Threads
from tests.crash.orders import order, order_flow

SAGA = compile_saga(order_flow)


class _Mute:
    """Calls nobody."""

    def send(self, *_: object) -> None: ...


class Desk:
    """A runner without a database: what it writes and what it wants read again lies here."""

    def __init__(self) -> None:
        self.written: list[Append] = []
        self.reread: list[Held] = []
        self.runner = Runner(
            "me",
            Keyring(),
            Clock(),
            Lanes(Threads(32)),
            write=self.write,
            reread=self.reread.append,
            orphan=lambda run, letter: None,
            gone=lambda: None,
        )
        self.runner.caller = cast("Caller", _Mute())

    def write(self, appends: Sequence[Append]) -> None:
        self.written += appends

    def take(self, run_id: str) -> Held:
        self.runner.take(SAGA, history(SAGA, run_id), fence=2)
        return self.runner.runs[run_id]


def history(saga: CompiledSaga, run_id: str) -> History:
    state: RunState = new_state(saga.spec)
    given = order(run_id).model_dump(mode="json")
    start = Start(at=1.0, run_id=run_id, instance="i", tenant="", input=given, actor=None)
    assert isinstance(transition(saga.spec, state, start), tuple)
    return History(saga.spec, state, (), 1, 1.0, "0" * 64, 1.0, "me", 2, None)


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that building the next appends ends in."""
    errors: list[Exception] = []

    def failing(*args: Any, **named: Any) -> Append:
        if errors:
            raise errors.pop()
        return build_append(*args, **named)

    monkeypatch.setattr("saga.orchestrator.runner.build_append", failing)
    return errors


@pytest.mark.parametrize("error", [RecordTooLarge("too large"), ZeroDivisionError("a bug")])
def test_nothing_is_decided_on_a_state_that_was_not_recorded(
    error: Exception, failing: list[Exception]
) -> None:
    """The state in memory has the events in it; a letter that comes before it has been read again
    would add a record that does not follow from the ones before.
    """

    async def scene() -> None:
        desk = Desk()
        failing.append(error)
        run = desk.take("r1")
        await turns()
        assert (desk.written, desk.reread) == ([], [run])
        desk.runner.deliver(run, not_made("some key", 1))
        await turns()
        assert (desk.written, desk.reread) == ([], [run])
        run.refusals = 0  # whatever it was, it is over
        desk.runner.replace(run, history(SAGA, "r1"))
        await turns()
        assert [append.seq for append in desk.written] == [2]

    asyncio.run(scene())


def test_a_bug_that_one_run_meets_does_not_stop_the_others(failing: list[Exception]) -> None:
    async def scene() -> None:
        desk = Desk()
        failing.append(ZeroDivisionError("a bug"))
        runs = [desk.take(f"r{number}") for number in range(3)]
        await turns()
        assert [append.run_id for append in desk.written] == ["r1", "r2"]
        assert desk.reread == runs[:1]
        assert (runs[0].refusals, runs[0].refusal) == (1, "a bug")

    asyncio.run(scene())


def test_what_comes_in_while_the_writer_works_is_decided_together() -> None:
    async def scene() -> None:
        desk = Desk()
        desk.take("r1")
        await turns()
        others = [desk.take(f"r{number}") for number in (2, 3)]
        await turns()
        assert [append.run_id for append in desk.written] == ["r1"]
        desk.runner.committed([(desk.written[0], None)])
        await turns()
        assert [append.run_id for append in desk.written[1:]] == [run.run_id for run in others]

    asyncio.run(scene())
