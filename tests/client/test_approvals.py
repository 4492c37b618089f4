"""Approvals from the outside: what is shown is what is approved, once, in time, by who may."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    App,
    Approval,
    ApprovalView,
    Call,
    Client,
    Compensation,
    Conflict,
    Effect,
    NotAllowed,
    Orchestrator,
    Saga,
    Step,
    Undo,
    UnknownRun,
    input_of,
)
from saga.clock import Clock
from saga.testing import check_laws
from tests.databases import Databases


class Payout(BaseModel):
    account: str
    amount: str


class Paid(BaseModel):
    number: str


class Later(Clock):
    """Two hours on."""

    def now(self) -> float:
        return super().now() + 7200

    def heard(self, said: float) -> float:
        return said + 7200


LEDGER: list[dict[str, Any]] = []


async def pay(call: Call[Payout]) -> Paid:
    entry = {"key": call.key, "run_id": call.run_id, "step": call.step, "of_key": None, "at": 0}
    LEDGER.append({**entry, "at": call.deadline.timestamp()})
    return Paid(number=call.args.account)


async def take_back(call: Undo[Payout, Paid]) -> None: ...


def saga(**approval: Any) -> Saga[Payout]:
    wanted: dict[str, Any] = {"by": ["ada", "bob"], "expires": timedelta(hours=1)} | approval
    payout = input_of(Payout)
    step = Step(
        "pay",
        Effect("bank.pay", pay, target=["account"]),
        args=payout,
        compensation=Compensation("bank.take-back", take_back),
        approval=Approval(**wanted),
    )
    return Saga("payout", payout, [step])


@pytest.fixture
def client(databases: Databases) -> Iterator[Client]:
    LEDGER.clear()
    client = Client(databases.fresh())
    yield client
    assert check_laws(client._source.url, LEDGER) == []
    client.close()


def idle(client: Client, saga: Saga[Payout]) -> None:
    async def run() -> None:
        async with Orchestrator(App(saga), client._source.url) as orchestrator:
            await orchestrator.run_until_idle()

    asyncio.run(run())


def asked(client: Client, flow: Saga[Payout], run_id: str = "p1") -> ApprovalView:
    client.start(flow, {"account": "DE1", "amount": "9.50"}, run_id=run_id, actor="agent")
    idle(client, flow)
    (one,) = [one for one in client.approvals() if one.run_id == run_id]
    return one


def shown(one: ApprovalView) -> dict[str, Any]:
    return {"version": one.version, "digest": one.digest}


def test_what_is_shown_is_what_is_sent(client: Client) -> None:
    flow = saga()
    one = asked(client, flow)
    assert (one.args, one.effect, one.people) == (
        {"account": "DE1", "amount": "9.50"},
        "bank.pay@1",
        1,
    )
    assert (one.source, one.reference, LEDGER) == ("input", "p1", [])
    client.approve("p1", "pay", **shown(one), actor="ada")
    assert client.approvals() == []
    idle(client, flow)
    run = client.show("p1")
    assert (run.outcome, len(LEDGER), run.steps[0].key) == ("completed", 1, one.key)


def test_something_else_than_what_was_shown_is_a_conflict(client: Client) -> None:
    one = asked(client, saga())
    for other in ({"version": one.version + 1}, {"digest": "sha256:0"}):
        with pytest.raises(Conflict, match="something else than what was shown"):
            client.approve("p1", "pay", **{**shown(one), **other}, actor="ada")
    assert len(client.approvals()) == 1


def test_neither_a_stranger_nor_who_started_it_may(client: Client) -> None:
    flow = saga(by="*")
    one = asked(client, flow)
    with pytest.raises(NotAllowed, match="who started the run"):
        client.approve("p1", "pay", **shown(one), actor="agent")
    assert one.by == ("*",)
    client.approve("p1", "pay", **shown(one), actor="whoever")
    with pytest.raises(NotAllowed):
        client.refuse("p1", "pay", **shown(one), reason="too late", actor="eve")


def test_a_decision_that_comes_before_the_question_is_refused_as_such(client: Client) -> None:
    """C072, temporal-sa/money-transfer-demo#8: never taken and lost."""
    flow = saga()
    anything: dict[str, Any] = {"version": 3, "digest": "sha256:0", "actor": "ada"}
    given = {"account": "DE1", "amount": "9.50"}
    client.start(flow, given, run_id="p1", actor="agent")
    with pytest.raises(UnknownRun):
        client.approve("p2", "pay", **anything)
    with pytest.raises(NotAllowed, match="does not wait for an approval yet"):
        client.approve("p1", "pay", **anything)
    with pytest.raises(NotAllowed, match="asks for no approval"):
        client.refuse("p1", "ship", reason="no", **anything)
    idle(client, flow)
    (one,) = client.approvals()
    client.approve("p1", "pay", **shown(one), actor="ada")


def test_two_people_at_once_or_one_double_click_give_one_result(client: Client) -> None:
    """C092: every combination of approve and refuse; one wins, the other is told who did."""
    flow = saga()
    for number, pair in enumerate([(True, True), (True, False), (False, False), (False, True)]):
        run_id = f"p{number}"
        one = asked(client, flow, run_id)
        answers: list[str] = []

        def decide(
            actor: str, *, approve: bool, one: ApprovalView = one, said: list[str] = answers
        ) -> None:
            try:
                if approve:
                    client.approve(one.run_id, "pay", **shown(one), actor=actor)
                else:
                    client.refuse(one.run_id, "pay", **shown(one), reason="no", actor=actor)
                said.append("done")
            except NotAllowed as refused:
                said.append(refused.rejection)

        people = zip(("ada", "bob"), pair, strict=True)
        threads = [
            threading.Thread(target=decide, args=(actor,), kwargs={"approve": approve})
            for actor, approve in people
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        idle(client, flow)
        run = client.show(run_id)
        kinds = [event["kind"] for record in client.journal(run_id) for event in record.events]
        assert run.phase == "ended"
        assert kinds.count("sending") == (run.outcome == "completed")
        assert kinds.count("refused") == (run.outcome == "compensated")
        assert sorted(answers) == ["decided", "done"]


def test_after_expiry_a_decision_is_refused_and_on_record_as_refused(client: Client) -> None:
    """C093: the run moves on by its rule at once; expiry is no person's refusal."""
    one = asked(client, saga())
    later = Client(client._source.url, clock=Later())
    assert later.approvals() == []
    with pytest.raises(NotAllowed, match="expired") as refused:
        later.approve("p1", "pay", **shown(one), actor="ada")
    assert refused.value.rejection == "expired"
    later.close()
    run = client.show("p1")
    assert (run.outcome, run.cause) == ("compensated", "deadline")
    assert run.cause_error is not None
    assert run.cause_error["type"] == "ApprovalExpired"
    last = client.journal("p1")[-1]
    assert [event["kind"] for event in last.events][:2] == ["decision_refused", "refused"]
    assert LEDGER == []


def test_once_it_has_been_sent_an_approval_is_used_up(client: Client) -> None:
    flow = saga()
    one = asked(client, flow)
    client.approve("p1", "pay", **shown(one), actor="ada")
    idle(client, flow)
    with pytest.raises(NotAllowed, match="used up") as refused:
        client.approve("p1", "pay", **shown(one), actor="bob")
    assert refused.value.rejection == "used_up"
    assert len(LEDGER) == 1


def test_another_branch_does_not_void_what_was_approved(client: Client) -> None:
    """C094, first half: the approval binds the record that froze this intent, not the last one."""
    flow = saga(people=2)
    one = asked(client, flow)
    client.approve("p1", "pay", **shown(one), actor="ada")
    (again,) = client.approvals()
    assert (again.version, again.given) == (one.version, ("ada",))
    client.approve("p1", "pay", **shown(one), actor="bob")
    idle(client, flow)
    assert client.show("p1").outcome == "completed"


def test_while_it_waits_the_run_says_so_and_belongs_to_nobody(client: Client) -> None:
    asked(client, saga())
    why = client.why("p1")
    (hold,) = [hold for hold in why.holds if hold.rule == "approval"]
    assert hold.freed_by == "saga approvals"
    assert client.show("p1").due_at == hold.next_at
