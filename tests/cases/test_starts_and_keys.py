"""Starting, run ids and idempotency keys: C048, C049, C050."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pydantic import BaseModel

from saga import (
    App,
    Call,
    Client,
    Compensation,
    Conflict,
    DefinitionError,
    Effect,
    NothingToUndo,
    Saga,
    Step,
    Undo,
    input_of,
)
from tests.cases import scripted
from tests.cases.ledger import Ledger
from tests.cases.scripted import PROVIDERS, Plan, Proof, act, ask, lifespan, take_back
from tests.cases.world import World


def start_in_threads(url: str, folder: str, acts: dict[str, list[str]]) -> None:
    """Five threads start the same run at once, and note what they were answered."""
    saga, ledger = scripted.app(folder).sagas[0], Ledger(Path(folder))
    client, together = Client(url), threading.Barrier(5)

    def start() -> None:
        together.wait()
        try:
            run = client.start(saga, {"acts": acts}, run_id="r1")
            ledger.note("answer", run=run.id, phase=run.phase)
        except Exception as error:  # noqa: BLE001  whatever it is, the test must hear of it
            ledger.note("answer", error=repr(error))

    threads = [threading.Thread(target=start) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("ending", ["completed", "compensated"])
def test_twenty_starts_at_the_same_time_are_one_run(world: World, ending: str) -> None:
    """C048, dbos-inc/dbos-transact-java#226, TryGhost/Ghost#12065, MassTransit/MassTransit#1959.

    Four processes of five threads, before there is a database; once more while it runs, and once
    more when it has ended.
    """
    acts = {"s2": ["hold:gate land"], "s3": ["land" if ending == "completed" else "refuse:no"]}

    def all_start(answers: int) -> None:
        processes = [
            world.process(start_in_threads, world.url, str(world.folder), acts) for _ in range(4)
        ]
        assert [process.ended() for process in processes] == [0] * 4
        said = world.ledger.lines("answer")
        assert len(said) == answers
        assert {(line.get("run"), line.get("error")) for line in said} == {("r1", None)}
        assert world.query("SELECT count(*) FROM runs") == [(1,)]

    all_start(20)
    world.orchestrator()
    world.held("gate")
    all_start(40)
    world.ledger.open("gate")
    assert world.ends().outcome == ending
    all_start(60)
    world.run_until_idle()
    assert [len(world.ledger.calls(name)) for name in ("s1", "s2", "s3")] == [1, 1, 1]
    assert len(world.ledger.calls()) == (3 if ending == "completed" else 5)


class Amount(BaseModel):
    amount: int
    currency: str
    rate: float = 1.0


async def _pay(call: Call[Amount]) -> Proof:
    return Proof(receipt_id="paid", idempotency_key=call.key)


def _paying(name: str = "pay", version: int = 1) -> Saga[Amount]:
    amount = input_of(Amount)
    step = Step("pay", Effect("pay", _pay), args=amount, compensation=NothingToUndo("a test"))
    return Saga(name, amount, [step], version=version)


def test_the_same_run_id_with_another_input_is_a_conflict_that_writes_nothing(
    world: World,
) -> None:
    """C049, stripe/stripe-ruby#503, stripe/stripe-mock#25.

    The rules: the order of fields does not matter; `10.0` for a whole number is no input at all,
    and for a float it is the same number; another saga, version or tenant is a conflict.
    """
    given = {"amount": 10, "currency": "EUR"}
    world.client.start(_paying(), given, run_id="K")
    stored = world.query("SELECT * FROM runs"), world.query("SELECT digest FROM definitions")
    for saga, other in (
        (_paying(), {**given, "amount": 11}),
        (_paying(), {**given, "rate": 1.5}),
        (_paying("refund"), given),
        (_paying(version=2), given),
    ):
        with pytest.raises(Conflict, match="use another run id"):
            world.client.start(saga, other, run_id="K")
    with pytest.raises(Conflict, match="another tenant"):
        world.client.start(_paying(), given, run_id="K", tenant="t2")
    with pytest.raises(ValueError, match="amount"):
        world.client.start(_paying(), {**given, "amount": 10.0}, run_id="K")
    same = {"rate": 1, "currency": "EUR", "amount": 10}
    assert world.client.start(_paying(), same, run_id="K").id == "K"
    assert world.client.start(_paying(), Amount(amount=10, currency="EUR"), run_id="K").id == "K"
    assert (world.query("SELECT * FROM runs"), world.query("SELECT digest FROM definitions")) == (
        stored
    )
    assert world.query("SELECT count(*) FROM journal") == [(1,)]


def test_a_changed_saga_under_the_same_version_is_a_conflict(world: World) -> None:
    """C049, the saga behind the name: the same name and version must mean the same."""
    world.client.start(_paying(), {"amount": 10, "currency": "EUR"}, run_id="K")
    amount = input_of(Amount)
    effect = Effect("pay", _pay)
    changed = Saga(
        "pay", amount, [Step("other", effect, args=amount, compensation=NothingToUndo("a test"))]
    )
    with pytest.raises(Conflict):
        world.client.start(changed, {"amount": 10, "currency": "EUR"}, run_id="L")
    assert world.query("SELECT count(*) FROM runs") == [(1,)]


def twice(folder: str) -> App:
    """One effect in two steps, with the same arguments; a third step that refuses."""
    plan = input_of(Plan)
    effect = Effect("do", act, probe=ask, provider=PROVIDERS["both"])
    undo = Compensation("undo", _remembering)
    steps = [Step(name, effect, args=plan, compensation=undo) for name in ("a", "b", "c")]
    return App(Saga("twice", plan, steps), lifespan=lifespan(folder))


async def _remembering(call: Undo[Plan, Proof]) -> None:
    call.resource(Ledger).land(call, receipt_given=call.receipt.receipt_id)


def test_the_same_function_in_two_steps_is_two_actions(world: World) -> None:
    """C050, mastra-ai/mastra#24044, github/spec-kit#4338, polka-codes/polka-codes#288.

    Killed between the two. Left for later: the same in a loop (`Each` is not built yet).
    """
    world.build = "tests.cases.test_starts_and_keys:twice"
    acts = {"b": ["hold:gate land", "land"], "c": ["refuse:no"]}
    world.client.start(world.app.sagas[0], {"acts": acts}, run_id="r1")
    first = world.orchestrator()
    world.held("gate")
    first.kill()
    world.run_until_idle()

    run = world.show()
    assert run.outcome == "compensated"
    keys = {step.name: step.key for step in run.steps}
    assert len(set(keys.values())) == 3
    assert world.ledger.order() == ["a", "b", "undo b", "undo a"]
    receipts = {line["name"]: line["receipt"] for line in world.ledger.landed()}
    given = {line["name"]: line.get("receipt_given") for line in world.ledger.landed()}
    assert (given["undo a"], given["undo b"]) == (receipts["a"], receipts["b"])
    assert receipts["a"] != receipts["b"]


def test_two_steps_of_one_name_are_refused_when_they_are_defined() -> None:
    """C050, last: keys would collide."""
    plan = input_of(Plan)
    one = Step("same", Effect("do", act), args=plan, compensation=Compensation("u", take_back))
    two = Step("same", Effect("do", act), args=plan, compensation=Compensation("u", take_back))
    with pytest.raises(DefinitionError) as refused:
        Saga("twice", plan, [one, two])
    assert refused.value.code == "duplicate-step"
    assert "same" in str(refused.value)
