"""Where calls are budgeted a probe is made once its record is durable, and once for each record."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from saga import (
    App,
    Budget,
    Call,
    Effect,
    NothingToUndo,
    Provider,
    Retry,
    Saga,
    Step,
    Unknown,
    input_of,
)
from tests.cases.faulty_database import OnDatabase
from tests.cases.ledger import Ledger
from tests.cases.scripted import Plan, Proof, lifespan
from tests.cases.waiting import until_then
from tests.cases.world import World
from tests.orchestrator.doubtful_database import Doubt, DoubtfulDatabase
from tests.orchestrator.running import running


def asking(asked: list[str], world: World) -> App:
    """One step whose first call is unknown; its probe writes down what is on record by then."""

    async def lost(call: Call[Plan]) -> Proof:
        call.resource(Ledger).land(call)
        raise Unknown("the answer was lost")

    async def find(call: Call[Plan]) -> Proof:
        bodies = world.query("SELECT body FROM journal WHERE run_id = ?", call.run_id)
        asked.append("".join(body for (body,) in bodies))
        return Proof(receipt_id="r", idempotency_key=call.key)

    shop = Provider("shop", key_life=timedelta(hours=1), in_flight=1, visible_after=0)
    effect = Effect("one.do", lost, probe=find, provider=shop, retry=Retry(first=0.01, jitter=0))
    plan = input_of(Plan)
    step = Step("s1", effect, args=plan, compensation=NothingToUndo("a test"))
    return App(
        Saga("one", plan, [step], budget=Budget(calls=9)), lifespan=lifespan(str(world.folder))
    )


@pytest.mark.parametrize("fate", ["fine", "before", "after"])
def test_a_probe_is_made_when_it_is_on_record_also_after_a_commit_in_doubt(
    world: World, fate: str
) -> None:
    asked: list[str] = []
    app = asking(asked, world)
    world.client.start(app.sagas[0], {}, run_id="r1")
    doubt = Doubt("fine", fate, only="INSERT INTO journal")

    async def main() -> None:
        async with running(world, app, kind=OnDatabase, database=DoubtfulDatabase, given=doubt):
            await until_then(lambda: world.show().phase == "ended", "it has ended")

    asyncio.run(main())
    run = world.show()
    assert run.outcome == "completed"
    assert len(asked) == 1
    assert asked[0].count('"probe_begun"') == 1
    assert run.budget["calls"].spent == run.steps[0].attempts + 1
