"""What is shown of a list: counts, failures by item, and why the others wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, Field

from saga import (
    App,
    Call,
    Client,
    Compensation,
    Each,
    Effect,
    Orchestrator,
    Provider,
    Run,
    Saga,
    Undo,
    bind,
    input_of,
    item_of,
)
from saga.inquiries.hold import Hold
from saga.testing import check_laws
from tests.client.desk import SLOW, as_planned
from tests.databases import Databases


class Work(BaseModel):
    """An item is a letter, its target, and what becomes of it: `a-land`, `b-lose`."""

    items: list[str]


class Job(BaseModel):
    about: str = Field(max_length=10)


class Done(BaseModel):
    number: str


class Office:
    """A saga over a list, whose items say what becomes of them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = Client(self.url)
        self.ledger: list[dict[str, Any]] = []

    def saga(self, **given: Any) -> Saga[Work]:
        work = input_of(Work)
        one = item_of(work.items)
        provider = Provider("asked", key_life=timedelta(days=1), in_flight=10)
        do = Effect("do", self.do, provider=provider, target=["about"], retry=SLOW)
        undo = Compensation("undo", self.undo, provider=provider, retry=SLOW)
        args = bind(Job)(about=one)
        each = Each("mail", do, over=work.items, args=args, compensation=undo, **given)
        return Saga("office", work, [each])

    def run(self, *items: str, **given: Any) -> Run:
        """Let an orchestrator do what there is to do."""
        saga = self.saga(**given)
        self.client.start(saga, Work(items=list(items)), run_id="r")
        asyncio.run(Orchestrator(App(saga), self.url, poll=0.02).run_until_idle())
        return self.client.show("r")

    def hold(self, rule: str) -> Hold:
        """The one hold of a kind."""
        (found,) = [hold for hold in self.client.why("r").holds if hold.rule == rule]
        return found

    async def do(self, call: Call[Job]) -> Done:
        as_planned(call.args.about.partition("-")[2])
        self._landed(call, None)
        return Done(number=call.item or "")

    async def undo(self, call: Undo[Job, Done]) -> None:
        assert call.receipt.number == call.item
        self._landed(call, call.of_key)

    def _landed(self, call: Any, of_key: str | None) -> None:
        facts = {"key": call.key, "run_id": call.run_id, "step": call.step}
        self.ledger.append({**facts, "of_key": of_key, "at": time.time()})


@pytest.fixture
def office(databases: Databases) -> Iterator[Office]:
    """A database of its own. The laws hold at the end."""
    office = Office(databases.fresh())
    yield office
    office.client.close()
    assert not check_laws(office.url, office.ledger)


def test_a_run_counts_its_items_by_state(office: Office) -> None:
    run = office.run("a-land", "b-refuse", "c-land", optional=True, parallel=1)
    (step,) = run.steps
    assert (run.outcome, step.state, step.attempts) == ("completed", "landed", 3)
    assert step.items is not None
    assert (step.items.total, step.items.states) == (3, {"landed": 2, "skipped": 1})
    assert (step.items.undos, step.undo, step.key, step.receipt) == ({}, None, None, None)


def test_a_failure_names_its_item(office: Office) -> None:
    run = office.run("a-land", "b-refuse", "c-refuse", "d-land", optional=True)
    assert [(one.step, one.item, one.state) for one in run.failures] == [
        ("mail", "1", "skipped"),
        ("mail", "2", "skipped"),
    ]
    assert run.failures[0].error is not None
    assert run.failures[0].error["text"] == "no"


def test_a_refused_item_is_the_cause_and_what_landed_is_counted_as_undone(office: Office) -> None:
    run = office.run("a-land", "b-land", "c-refuse", "d-land", parallel=1)
    assert (run.outcome, run.cause, run.cause_step) == ("compensated", "refused", "mail")
    assert [(one.item, one.state) for one in run.failures] == [("2", "refused")]
    items = run.steps[0].items
    assert items is not None
    assert items.states == {"landed": 2, "refused": 1, "waiting": 1}
    assert items.undos == {"landed": 2}
    assert [line.fate for line in run.settlement] == ["undone", "undone", "never", "never"]
    assert len(office.ledger) == 4


def test_a_list_that_is_bad_is_shown_without_items(office: Office) -> None:
    run = office.run(*["same", "same"], key=item_of(input_of(Work).items))
    assert (run.outcome, run.steps[0].items) == ("compensated", None)
    assert run.cause_error is not None
    assert run.cause_error["text"] == "input.items[0] and [1] have the same key"


@pytest.mark.parametrize("optional", [True, False])
def test_an_item_whose_arguments_do_not_fit_is_refused_alone(
    office: Office, *, optional: bool
) -> None:
    run = office.run("a-land", "far-too-long", "c-land", optional=optional, parallel=1)
    (failure,) = run.failures
    assert (failure.item, failure.state) == ("1", "skipped" if optional else "refused")
    assert failure.error is not None
    assert "about" in failure.error["text"]
    assert "far-too-long" not in failure.error["text"]
    assert run.outcome == ("completed" if optional else "compensated")
    assert [entry["of_key"] is None for entry in office.ledger] == [True, optional]


def test_why_names_the_unknown_one_that_holds_all(office: Office) -> None:
    office.run("a-lose", "b-land", "c-land", parallel=1)
    assert "mail#0" in office.hold("resend").text
    held = office.hold("items")
    assert held.text == (
        "2 of 3 items of mail have not begun: 1 unknown, and on_unknown is hold_all"
    )
    assert held.freed_by == "whatever settles those"
    assert held.evidence == ("0 are done, 1 have begun",)


def test_why_names_the_limit(office: Office) -> None:
    office.run("a-down", "b-down", "c-land", parallel=2)
    held = office.hold("items")
    assert held.text.endswith(
        "1 of 3 items of mail have not begun: at most 2 are under way at once"
    )


def test_why_names_the_batch(office: Office) -> None:
    office.run("a-down", "b-land", "c-land", parallel=3, batch=2)
    assert "a batch of 2 is done before the next one begins" in office.hold("items").text


def test_why_names_an_item_that_waits_for_another_about_the_same(office: Office) -> None:
    """It is frozen, so nothing of the step has not begun."""
    given = "a-lose", "b-land", "a-lose", "c-land"
    office.run(*given, parallel=2, on_unknown="hold_target")
    run = office.client.show("r")
    assert run.steps[0].items is not None
    assert run.steps[0].items.states == {"unknown": 1, "landed": 2, "intended": 1}
    held = office.hold("held")
    assert held.text == (
        "mail#2 is not sent: an item about the same target is unknown, and on_unknown is "
        "hold_target"
    )
    assert (held.step, held.freed_by) == ("mail", "whatever settles that")


def test_why_names_one_that_is_not_tried_again_while_another_is_unknown(office: Office) -> None:
    office.run("a-down", "b-lose", parallel=2)
    assert office.hold("held").text == ("mail#0 is not sent: 1 unknown, and on_unknown is hold_all")
