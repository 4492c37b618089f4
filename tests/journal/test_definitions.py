"""Every start looks at the stored definition: others may have changed it since the last one."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from saga import Call, Client, Effect, NothingToUndo, Saga, Step, input_of
from saga.clock import Clock
from saga.errors import Tampered
from saga.ids import Ids
from saga.inquiries.source import Source
from saga.journal.database import Database
from saga.journal.sealing import Keyring
from tests.databases import Databases
from tests.journal.world import opened


class Item(BaseModel):
    id: str


async def act(call: Call[Item]) -> Item:
    return call.args


def flow(timeout: float) -> Saga[Item]:
    """The same meaning, with another tuning."""
    item, effect = input_of(Item), Effect("act", act, timeout=timeout)
    return Saga("flow", item, [Step("act", effect, args=item, compensation=NothingToUndo("no"))])


OURS, THEIRS = flow(10), flow(20)


@pytest.fixture
def url(databases: Databases) -> str:
    return databases.fresh()


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    client = Client(url)
    client.start(OURS, {"id": "i"}, run_id="first")
    yield client
    client.close()


@pytest.fixture
def database(url: str, client: Client) -> Iterator[Database]:
    database = opened(url, None)
    yield database
    database.close()


def stored_timeout(database: Database) -> float:
    select = "SELECT spec FROM definitions"
    text: str = database.read(lambda c: c.exec_driver_sql(select).scalar_one())
    return float(json.loads(text)["steps"][0]["effect"]["timeout"])


def test_the_tuning_of_who_started_last_is_the_stored_one(
    url: str, client: Client, database: Database
) -> None:
    assert OURS.digest() == THEIRS.digest()
    assert stored_timeout(database) == 10
    other = Client(url)
    other.start(THEIRS, {"id": "i"}, run_id="second")
    assert stored_timeout(database) == 20
    client.start(OURS, {"id": "i"}, run_id="third")
    assert stored_timeout(database) == 10
    other.close()


def test_who_has_read_it_before_sees_the_tuning_of_who_started_last(
    url: str, client: Client
) -> None:
    source = Source(url, Keyring(), Clock(), Ids())

    def timeout() -> float:
        spec = source.read(lambda c: source.specs().get(c, OURS.digest()))
        return float(spec.steps[0].effect.timeout)

    assert [timeout(), timeout()] == [10, 10]
    client.start(THEIRS, {"id": "i"}, run_id="second")
    assert timeout() == 20
    client.start(OURS, {"id": "i"}, run_id="third")
    assert timeout() == 10
    source.close()


altered = pytest.mark.parametrize(
    "change", ["spec = replace(spec, 'act', 'cat')", "stored_at = stored_at + 1", "seal = ''"]
)


@altered
def test_an_altered_one_is_noticed_by_a_client_that_knows_the_saga(
    client: Client, database: Database, change: str
) -> None:
    database.write(lambda c: c.exec_driver_sql(f"UPDATE definitions SET {change}"))
    with pytest.raises(Tampered, match="does not verify"):
        client.start(OURS, {"id": "i"}, run_id="second")


@altered
def test_an_altered_one_is_noticed_by_a_client_that_has_read_it_before(
    client: Client, database: Database, change: str
) -> None:
    assert not client.show("first").damaged
    database.write(lambda c: c.exec_driver_sql(f"UPDATE definitions SET {change}"))
    assert client.show("first").damaged
    with pytest.raises(Tampered, match="does not verify"):
        client.cancel("first", reason="enough")
