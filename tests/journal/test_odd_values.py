"""Long integers, deep receipts, NUL and its friends, through the whole: from client to undo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from saga import App, Call, Compensation, Effect, Refused, Saga, Step, Undo, input_of
from saga.client import Client
from saga.errors import BadInput
from saga.orchestrator.orchestrator import Orchestrator
from tests.databases import Databases
from tests.journal.world import nested

Copy = Callable[[str | None], str]


# ---- through the whole


class Wide(BaseModel):
    number: int
    text: str = ""


class Kept(BaseModel):
    number: int
    anything: Any = None


def flow(
    seen: list[Any], receipt: Callable[[Call[Wide]], Any], error: Exception | None = None
) -> Saga[Wide]:
    async def keep(call: Call[Wide]) -> Kept:
        seen.append(call.args)
        made: Kept = receipt(call)
        return made

    async def drop(call: Undo[Wide, Kept]) -> None:
        seen.append((call.args, call.receipt))

    async def fail(call: Call[Wide]) -> Kept:
        raise error or Refused("no")

    given_ = input_of(Wide)
    drop_it = Compensation("drop", drop)
    return Saga(
        "wide",
        given_,
        [
            Step("keep", Effect("keep", keep), args=given_, compensation=drop_it),
            Step("fail", Effect("fail", fail), args=given_, compensation=drop_it),
        ],
    )


def run(saga: Saga[Any], url: str) -> None:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Sequence[object]]:
        yield []

    asyncio.run(Orchestrator(App(saga, lifespan=lifespan), url).run_until_idle())


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 10**40, -(10**40)])
def test_a_long_integer_arrives_at_the_undo_with_every_digit(
    databases: Databases, number: int
) -> None:
    """C055: input, intent, receipt, arguments of the undo, and what a client shows."""
    seen: list[Any] = []
    saga = flow(seen, lambda call: Kept(number=call.args.number + 1, anything=[number]))
    url = databases.fresh()
    client = Client(url)
    client.start(saga, Wide(number=number), run_id="r")
    run(saga, url)
    kept = Kept(number=number + 1, anything=[number])
    assert seen == [Wide(number=number), (Wide(number=number), kept)]
    shown = client.show("r")
    assert shown.outcome == "compensated"
    assert shown.steps[0].receipt == {"number": number + 1, "anything": [number]}
    client.close()
    ((intent, receipt),) = databases.query(
        databases.fresh(),
        "SELECT intent, receipt FROM actions WHERE step = 'keep' AND direction = 'forward'",
    )
    assert intent == f'{{"number":{number},"text":""}}'
    assert receipt == f'{{"number":{number + 1},"anything":[{number}]}}'


@pytest.mark.parametrize(
    "anything", ["a\0b", "\ud800", float("nan"), [{"x": float("inf")}], nested(64)]
)
def test_a_receipt_that_cannot_be_stored_leaves_the_action_unknown(
    databases: Databases, anything: Any
) -> None:
    """C054, C057: never 'failed, do again'; the process lives on, and the run can be read."""
    seen: list[Any] = []
    saga = flow(seen, lambda call: Kept.model_construct(number=1, anything=anything))
    url = databases.fresh()
    client = Client(url)
    client.start(saga, Wide(number=1), run_id="r")
    run(saga, url)
    shown = client.show("r")
    assert not shown.damaged
    assert (shown.steps[0].state, len(shown.cases), len(seen)) == ("unknown", 1, 1)
    client.close()


def test_the_deepest_receipt_is_kept_and_read_again(databases: Databases) -> None:
    seen: list[Any] = []
    saga = flow(seen, lambda call: Kept(number=1, anything=nested(63)))
    url = databases.fresh()
    client = Client(url)
    client.start(saga, Wide(number=1), run_id="r")
    run(saga, url)
    assert client.show("r").outcome == "compensated"
    assert seen[1][1] == Kept(number=1, anything=nested(63))
    client.close()


def test_an_error_text_with_odd_characters_does_not_brick_the_run(databases: Databases) -> None:
    """C057: NUL, lone surrogates and a whole megabyte in what an effect raises."""
    error = Refused("a\0b \ud800 \\u0000 " + "x" * 10**6)
    saga = flow([], lambda call: Kept(number=1), error)
    url = databases.fresh()
    client = Client(url)
    client.start(saga, Wide(number=1), run_id="r")
    run(saga, url)
    shown = client.show("r")
    assert shown.outcome == "compensated"
    assert shown.steps[1].error is not None
    assert "\\u0000" in shown.steps[1].error["text"]
    assert len(json.dumps(shown.steps[1].error)) < 2100
    client.close()


@pytest.mark.parametrize("actor", ["a\0b", "\ud800"])
def test_an_actor_that_cannot_be_stored_is_bad_input_and_changes_nothing(
    databases: Databases, actor: str
) -> None:
    saga = flow([], lambda call: Kept(number=1))
    client = Client(databases.fresh())
    with pytest.raises(BadInput):
        client.start(saga, Wide(number=1), run_id="r", actor=actor)
    client.start(saga, Wide(number=1), run_id="r")
    with pytest.raises(BadInput):
        client.cancel("r", reason="now", actor=actor)
    assert client.show("r").phase == "running"
    client.close()


def test_a_report_that_fits_no_record_is_bad_input(databases: Databases, copy: Copy) -> None:
    url = copy(None)
    client = Client(url)
    step = client.show("running").steps[2]
    assert step.key is not None
    select = "SELECT digest FROM actions WHERE key = ?"
    ((digest,),) = databases.query(url, select, step.key)
    with pytest.raises(BadInput):
        client.report(
            "running",
            step.key,
            digest=digest,
            attempt=1,
            receipt={"number": 1, "name": "x" * 10**6},
        )
    assert client.show("running").phase == "running"
    client.close()
