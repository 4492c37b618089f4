"""Waits from the outside: a time, a signal, the limit; a run that sleeps belongs to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

from saga import (
    App,
    BadInput,
    Call,
    Client,
    Conflict,
    Effect,
    NotAllowed,
    NothingToUndo,
    Orchestrator,
    Saga,
    Step,
    UnknownRun,
    Wait,
    bind,
    input_of,
)
from saga.testing import run
from tests.databases import Databases


class Order(BaseModel):
    id: str
    ship_at: datetime


class Payment(BaseModel):
    amount: str


class Note(BaseModel):
    text: str


async def note(call: Call[Note]) -> Note:
    return call.args


order = input_of(Order)
paid = Wait("paid", signal=Payment, limit=timedelta(days=3))
told = Step(
    "told",
    Effect("notes.add", note),
    args=bind(Note)(text=paid.receipt.amount),
    compensation=NothingToUndo("a note"),
)
SAGA = Saga("paid-order", order, [paid, Wait("ship-at", until=order.ship_at), told])
GIVEN = Order(id="o1", ship_at=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def url(databases: Databases) -> str:
    return databases.fresh()


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    client = Client(url)
    client.start(SAGA, GIVEN, run_id="o1")
    yield client
    client.close()


async def idle(url: str) -> None:
    async with Orchestrator(App(SAGA), url) as orchestrator:
        await orchestrator.run_until_idle()


def test_what_a_signal_brings_is_the_receipt_that_later_steps_use(client: Client, url: str) -> None:
    client.signal("o1", "paid", Payment(amount="9.50"), message_id="evt-1", actor="bank")
    asyncio.run(idle(url))
    done = client.show("o1")
    assert done.outcome == "completed"
    assert [step.receipt for step in done.steps][::2] == [{"amount": "9.50"}, {"text": "9.50"}]
    assert done.steps[1].receipt["at"] == "2026-01-01T00:00:00+00:00"


def test_a_sleeping_run_belongs_to_nobody_and_is_due_at_its_limit(
    databases: Databases, client: Client, url: str
) -> None:
    asyncio.run(idle(url))
    asleep = client.show("o1")
    assert (asleep.phase, asleep.steps[0].state) == ("running", "intended")
    assert asleep.due_at is not None
    assert asleep.due_at - asleep.started_at >= timedelta(days=3)
    assert databases.query(url, "SELECT owner FROM runs") == [(None,)]
    if databases.kind == "sqlite":
        plan = databases.query(
            url,
            "EXPLAIN QUERY PLAN SELECT min(due_at) FROM runs "
            "WHERE owner IS NULL AND due_at IS NOT NULL",
        )
        assert "ix_runs_claim" in plan[0][3]  # sleeping runs cost a row of this index each
    why = client.why("o1")
    (waits,) = [hold for hold in why.holds if hold.rule == "waits"]
    assert (waits.next_at, why.next_wake_up) == (asleep.due_at, asleep.due_at)
    assert "paid waits for a signal" in waits.text
    assert waits.freed_by == "saga signal o1 paid JSON --message-id ID"


def test_the_same_message_is_taken_once_also_after_the_end(client: Client, url: str) -> None:
    for _ in range(2):
        client.signal("o1", "paid", {"amount": "9.50"}, message_id="evt-1")
    with pytest.raises(Conflict, match="another payload"):
        client.signal("o1", "paid", {"amount": "1"}, message_id="evt-1")
    asyncio.run(idle(url))
    assert client.signal("o1", "paid", {"amount": "9.50"}, message_id="evt-1").phase == "ended"
    with pytest.raises(NotAllowed, match="has ended") as refused:
        client.signal("o1", "paid", {"amount": "9.50"}, message_id="evt-2")
    assert refused.value.rejection == "ended"
    assert [one.command for one in client.journal("o1")].count("signal") == 1


def test_at_whatever_moment_a_signal_comes_what_was_taken_is_used(client: Client, url: str) -> None:
    """C072, mercury/hs-temporal-sdk#280, coinbase/temporal-ruby#267."""
    with pytest.raises(UnknownRun):
        client.signal("r0", "paid", {"amount": "1"}, message_id="evt-1")

    async def bought(number: int) -> None:
        await asyncio.to_thread(client.start, SAGA, GIVEN, run_id=f"r{number}")
        await asyncio.sleep(number * 0.002)  # while it begins, and after
        for _ in range(2):
            given = {"amount": f"{number}"}
            await asyncio.to_thread(
                client.signal, f"r{number}", "paid", given, message_id=f"evt-{number}"
            )

    async def all_of_them() -> None:
        orchestrator = Orchestrator(App(SAGA), url)
        running = asyncio.create_task(orchestrator.run())
        await asyncio.gather(*(bought(number) for number in range(20)))
        for number in range(20):
            await asyncio.to_thread(client.wait, f"r{number}", 60)
        orchestrator.stop()
        await running

    asyncio.run(all_of_them())
    for number in range(20):
        done = client.show(f"r{number}")
        assert (done.outcome, done.steps[2].receipt) == ("completed", {"text": f"{number}"})


def test_a_signal_for_nothing_says_what_there_is(client: Client) -> None:
    with pytest.raises(NotAllowed, match="those that do: paid"):
        client.signal("o1", "payed", message_id="evt-1")
    with pytest.raises(BadInput, match="message id"):
        client.signal("o1", "paid", message_id="not an id")
    with pytest.raises(BadInput):
        client.signal("o1", "paid", ["a list"], message_id="evt-1")
    assert len(client.journal("o1")) == 1


def test_what_does_not_fit_the_model_is_found_before_it_is_recorded(client: Client) -> None:
    for payload, text in (({}, "lacks amount"), (None, "lacks amount"), ({"sum": "1"}, "lacks")):
        with pytest.raises(NotAllowed, match=text):
            client.signal("o1", "paid", payload, message_id="evt-1")
    with pytest.raises(NotAllowed, match="has no field note"):
        client.signal("o1", "paid", {"amount": "1", "note": "x"}, message_id="evt-1")
    assert len(client.journal("o1")) == 1


def test_a_saga_that_waits_runs_in_a_test_without_waiting() -> None:
    nap = Wait("nap", time=timedelta(days=30))
    ended = run(Saga("naps", order, [nap]), GIVEN)
    assert ended.outcome == "completed"
    limited = Saga("limited", order, [Wait("paid", signal=Payment, limit=timedelta(days=30))])
    ended = run(limited, GIVEN)
    assert (ended.outcome, ended.cause, ended.cause_step) == ("compensated", "deadline", "paid")
