"""A step that dies half-way through its own list: C010."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    Compensation,
    Each,
    Effect,
    Retry,
    Saga,
    Undo,
    bind,
    input_of,
    item_of,
)
from tests.cases.ledger import Ledger
from tests.cases.scripted import FAST, PROVIDERS, Proof, lifespan
from tests.cases.waiting import until, until_then
from tests.cases.world import World

TEN = [f"n{number}" for number in range(10)]


class Mailing(BaseModel):
    """Ten notes, of which some are held once they have landed."""

    notes: list[str]
    held: list[str]


class Note(BaseModel):
    to: str
    held: list[str]


async def send(call: Call[Note]) -> Proof:
    """Land, and answer when the gate is open."""
    ledger = call.resource(Ledger)
    ledger.called(call, item=call.item)
    receipt = ledger.land(call, item=call.item)
    if call.args.to in call.args.held:
        await until_then(lambda: ledger.is_open("gate"), "the gate is open")
    return Proof(receipt_id=receipt, idempotency_key=call.key)


async def unsend(call: Undo[Note, Proof]) -> Proof:
    """Take back what the receipt says."""
    ledger = call.resource(Ledger)
    ledger.called(call, item=call.item)
    assert call.receipt.receipt_id == ledger.found(call.of_key)
    receipt = ledger.land(call, item=call.item)
    return Proof(receipt_id=receipt, idempotency_key=call.key)


async def find(call: Call[Note]) -> Proof | Absent:
    """Ask by key."""
    receipt = call.resource(Ledger).found(call.key)
    return Proof(receipt_id=receipt, idempotency_key=call.key) if receipt else Absent()


def mailing(folder: str, *, provider: str, parallel: int) -> App:
    """One note for each name of the input."""
    given = input_of(Mailing)
    name = item_of(given.notes)
    retry = Retry(**FAST)
    asked = find if provider in ("both", "asked") else None
    facts = PROVIDERS[provider]
    each = Each(
        "send",
        Effect("note.send", send, probe=asked, provider=facts, retry=retry, timeout=10),
        over=given.notes,
        key=name,
        args=bind(Note)(to=name, held=given.held),
        compensation=Compensation(
            "note.unsend", unsend, probe=asked, provider=facts, retry=retry, timeout=10
        ),
        parallel=parallel,
    )
    return App(Saga("mailing", given, [each]), lifespan=lifespan(folder))


def killed_after_four(world: World, provider: str, parallel: int) -> None:
    """Four notes have landed; with `parallel` 4 no answer of theirs, else those of three, came."""
    world.build = f"{__name__}:mailing"
    world.of(provider=provider, parallel=parallel)
    held = TEN[:4] if parallel > 1 else TEN[3:4]
    (saga,) = world.app.sagas
    world.client.start(saga, Mailing(notes=TEN, held=held), run_id="r1")
    worker = world.orchestrator()
    until(lambda: len(world.ledger.landed()) == 4, "four have landed")
    worker.kill()
    assert len(world.ledger.landed()) == 4
    states = dict(world.query("SELECT state, count(*) FROM actions GROUP BY state"))
    assert states == ({"sending": 4} if parallel > 1 else {"landed": 3, "sending": 1})
    world.ledger.open("gate")


def sent(world: World) -> list[str]:
    """The items that were called for, in order."""
    return [line["item"] for line in world.ledger.calls("send")]


def keys(world: World, items: Sequence[str]) -> set[str]:
    """The keys under which these were ever called for."""
    return {line["key"] for line in world.ledger.calls("send") if line["item"] in items}


@pytest.mark.parametrize("provider", ["both", "keys", "asked"])
@pytest.mark.parametrize("parallel", [1, 4])
def test_a_list_goes_on_where_it_was_and_applies_no_item_twice(
    world: World, provider: str, parallel: int
) -> None:
    """C010, camunda/camunda#15152: going on."""
    killed_after_four(world, provider, parallel)
    first = keys(world, TEN)
    world.orchestrator()
    run = world.ends()
    assert run.outcome == "completed"
    landed = world.ledger.landed()
    assert sorted(line["item"] for line in landed) == TEN
    assert len({line["key"] for line in landed}) == 10
    assert keys(world, TEN[:4]) == first  # asked for again under the same keys only
    again = [item for item in TEN if sent(world).count(item) > 1]
    unknown = TEN[:4] if parallel > 1 else TEN[3:4]
    assert again == ([] if provider in ("both", "asked") else unknown)
    assert run.steps[0].items is not None
    assert run.steps[0].items.states == {"landed": 10}


@pytest.mark.parametrize("provider", ["both", "keys", "asked"])
@pytest.mark.parametrize("parallel", [1, 4])
def test_a_list_that_is_cancelled_half_way_takes_back_exactly_what_was_applied(
    world: World, provider: str, parallel: int
) -> None:
    """C010: cancelling, while nobody is alive."""
    killed_after_four(world, provider, parallel)
    world.client.cancel("r1", reason="no more")
    world.orchestrator()
    run = world.ends()
    assert (run.outcome, run.cause) == ("compensated", "cancelled")
    assert world.ledger.net() == []
    done, undone = world.ledger.landed("send"), world.ledger.landed("undo send")
    assert {line["item"] for line in done} == set(TEN[:4])
    assert {line["of_key"] for line in undone} == {line["key"] for line in done}
    assert (len(done), len(undone)) == (4, 4)
    assert set(sent(world)) == set(TEN[:4])  # nothing new was begun
    fates = {line.item: line.fate for line in run.settlement}
    assert fates == {item: "undone" if item in TEN[:4] else "never" for item in TEN}


@pytest.mark.parametrize("parallel", [1, 4])
def test_where_nobody_can_say_each_unknown_item_is_a_case_and_nothing_more_is_sent(
    world: World, parallel: int
) -> None:
    """C010 at a provider that neither honours keys nor can be asked: a person looks."""
    killed_after_four(world, "neither", parallel)
    world.orchestrator()
    unknown = set(TEN[:4] if parallel > 1 else TEN[3:4])
    until(lambda: len(world.client.cases()) == len(unknown), "there is a case for each")
    cases = world.client.cases()
    assert {case.item for case in cases} == unknown
    assert set(sent(world)) == set(TEN[:4])
    for case in cases:
        assert case.key is not None
        receipt = {"receipt_id": world.ledger.found(case.key), "idempotency_key": case.key}
        world.client.resolve(case.id, "landed", receipt=receipt, reason="seen", actor="ada")
    assert world.ends().outcome == "completed"
    assert sorted(line["item"] for line in world.ledger.landed()) == TEN
    assert len(sent(world)) == 10
