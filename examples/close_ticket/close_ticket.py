"""Close a ticket for an agent: read it, ask people, close it; once, whatever dies meanwhile.

python -m examples.close_ticket.tool --store tickets.db --port 8766      # the tool, another process
saga orchestrator examples/close_ticket/close_ticket.py:app              # whoever does it
saga start examples/close_ticket/close_ticket.py:app close-ticket run-42 '{"ticket": "ticket-7"}'
saga approvals
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx2
from pydantic import BaseModel

from saga import (
    Absent,
    App,
    Approval,
    Call,
    CannotSay,
    Compensation,
    Effect,
    InProgress,
    NothingToUndo,
    Provider,
    Saga,
    Satisfied,
    Step,
    Undo,
    Unknown,
    bind,
    http,
    input_of,
)

__all__ = ["Goal", "app", "close_ticket"]


class Goal(BaseModel):
    ticket: str


class Reading(BaseModel):
    """What the tool says of a ticket now."""

    ticket: str
    status: str
    version: int
    read_at: datetime


class Closing(BaseModel):
    """The write: the ticket as it was read, so that nothing newer is overwritten."""

    ticket: str
    version: int


class Receipt(BaseModel):
    """The tool's own proof; it echoes what was asked."""

    receipt_id: str
    idempotency_key: str
    intent_digest: str
    target_version: int
    status: str


tool = Provider(
    "tickets",
    key_life=timedelta(days=30),
    in_flight=timedelta(seconds=5),
    visible_after=timedelta(seconds=0),
    late_until=timedelta(seconds=10),
)


async def read(call: Call[Goal]) -> Reading:
    return await _read(call, call.args.ticket)


async def close(call: Call[Closing]) -> Receipt | Satisfied:
    """Close it, unless a current reading shows that it is closed already."""
    now = await _read(call, call.args.ticket)
    if now.status == "closed":
        return Satisfied(now)
    digest = {"Intent-Digest": call.digest}
    url = f"/tickets/{call.args.ticket}/close"
    return Receipt.model_validate(await http.post(call, url, json=call.args, headers=digest))


async def find_receipt(call: Call[Closing]) -> Receipt | Absent | InProgress | CannotSay:
    """The tool's receipt under the same key; saga compares its echo with the intent."""
    found = await http.find(call, f"/receipts/{call.key}")
    return Receipt.model_validate(found) if isinstance(found, dict) else found


async def reopen(call: Undo[Closing, Receipt]) -> None:
    digest = {"Intent-Digest": call.digest}
    url = f"/tickets/{call.args.ticket}/reopen"
    await http.post(call, url, json={"receipt_id": call.receipt.receipt_id}, headers=digest)


async def _read(call: Call[Goal] | Call[Closing], ticket: str) -> Reading:
    found = await http.find(call, f"/tickets/{ticket}")
    if not isinstance(found, dict):
        raise Unknown(f"the tool has no such ticket, or cannot say: {type(found).__name__}")
    return Reading(**found, read_at=datetime.now(UTC))


goal = input_of(Goal)
seen = Step(
    "read",
    Effect("tickets.read", read, provider=tool),
    args=goal,
    compensation=NothingToUndo("it only reads"),
)
closed = Step(
    "close",
    Effect(
        "tickets.close",
        close,
        probe=find_receipt,
        target=["ticket"],
        timeout=timedelta(seconds=2),
        provider=tool,
    ),
    args=bind(Closing)(ticket=goal.ticket, version=seen.receipt.version),
    compensation=Compensation("tickets.reopen", reopen, provider=tool),
    approval=Approval(
        by=["ada", "bob"],
        expires=timedelta(hours=1),
        observed=seen,
        scope="close one ticket",
        policy="2026-07",
    ),
)
close_ticket = Saga("close-ticket", goal, [seen, closed], deadline=timedelta(days=1))


@asynccontextmanager
async def lifespan() -> AsyncIterator[Sequence[object]]:
    """One HTTP client, whose base is the tool."""
    url = os.environ.get("TICKETS_URL", "http://127.0.0.1:8766")
    async with httpx2.AsyncClient(base_url=url, timeout=None, trust_env=False) as client:
        yield [client]


app = App(close_ticket, lifespan=lifespan)
