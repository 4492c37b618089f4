"""100 notifications in batches: one definition, and three kinds of provider that may be behind it.

python -m examples.notifications.provider --ledger sent.db --port 8767 --keys   # another process
saga orchestrator examples/notifications/notifications.py:app                   # whoever does it
saga start examples/notifications/notifications.py:app notify-keys spring @campaign.json
saga show spring                                                                # how many are sent
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Literal

import httpx2
from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Call,
    CannotSay,
    Each,
    Effect,
    InProgress,
    NothingToUndo,
    Provider,
    Saga,
    bind,
    http,
    input_of,
    item_of,
)

__all__ = ["SAGAS", "Campaign", "Reader", "app"]


class Reader(BaseModel):
    number: int
    address: str


class Campaign(BaseModel):
    text: str
    readers: list[Reader]


class Notice(BaseModel):
    """The arguments of one notification."""

    to: str
    text: str


class Receipt(BaseModel):
    """The provider's number for what it has sent."""

    message: str


class KeyedReceipt(Receipt):
    """That of a provider that writes keys down: an echo, compared with the intent."""

    idempotency_key: str
    intent_digest: str


async def send(call: Call[Notice]) -> Receipt:
    return Receipt.model_validate(await http.post(call, "/notifications", json=call.args))


async def send_by_key(call: Call[Notice]) -> KeyedReceipt:
    return KeyedReceipt.model_validate(await http.post(call, "/notifications", json=call.args))


async def find(call: Call[Notice]) -> KeyedReceipt | Absent | InProgress | CannotSay:
    """What the provider has under the call's key."""
    found = await http.find(call, "/notifications", params={"key": call.key})
    return KeyedReceipt.model_validate(found) if isinstance(found, dict) else found


IN_FLIGHT, LATE_UNTIL = timedelta(seconds=1), timedelta(seconds=2)
TIMEOUT = timedelta(seconds=20)

honours_keys = Effect(
    "keys.send",
    send_by_key,
    target=["to"],
    timeout=TIMEOUT,
    provider=Provider(
        "keys", key_life=timedelta(days=1), in_flight=IN_FLIGHT, late_until=LATE_UNTIL
    ),
)
answers_queries = Effect(
    "queries.send",
    send_by_key,
    probe=find,
    target=["to"],
    timeout=TIMEOUT,
    provider=Provider("queries", in_flight=IN_FLIGHT, visible_after=0, late_until=LATE_UNTIL),
)
does_neither = Effect(
    "neither.send",
    send,
    target=["to"],
    timeout=TIMEOUT,
    provider=Provider("neither", in_flight=IN_FLIGHT),
)


def campaign(
    name: str,
    effect: Effect[Notice, Any],
    *,
    parallel: int,
    batch: int | None = None,
    on_unknown: Literal["hold_all", "hold_item"] = "hold_all",
) -> Saga[Campaign]:
    """A notification to each reader, through one of the providers."""
    given = input_of(Campaign)
    reader = item_of(given.readers)
    mail = Each(
        "mail",
        effect,
        over=given.readers,
        key=reader.number,
        args=bind(Notice)(to=reader.address, text=given.text),
        compensation=NothingToUndo("a notification cannot be unsent"),
        parallel=parallel,
        batch=batch,
        on_unknown=on_unknown,
    )
    return Saga(name, given, [mail])


SAGAS = {
    saga.name: saga
    for saga in (
        campaign("notify-keys", honours_keys, parallel=5, batch=10),
        campaign("notify-queries", answers_queries, parallel=5, batch=10),
        campaign("notify-neither", does_neither, parallel=5, batch=10),
        campaign("one-by-one", does_neither, parallel=1),
        campaign("others-go-on", does_neither, parallel=1, on_unknown="hold_item"),
    )
}


@asynccontextmanager
async def lifespan() -> AsyncIterator[Sequence[object]]:
    """One HTTP client, whose base is the provider."""
    url = os.environ.get("NOTIFIER_URL", "http://127.0.0.1:8767")
    async with httpx2.AsyncClient(base_url=url, timeout=None, trust_env=False) as client:
        yield [client]


app = App(*SAGAS.values(), lifespan=lifespan)
