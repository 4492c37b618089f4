"""Services where what a request made is found by the key of that request.

`POST path` with an `Idempotency-Key` makes it, `GET path?key=` tells what became of it: 200 and
the same receipt, 202 while under way, 404 with the code `no_such_key`. A 404 without that code is a
wrong address or a proxy's opinion, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from saga import Absent, Call, CannotSay, InProgress, Retry, http

__all__ = ["RETRY", "UNDO_RETRY", "Receipt", "find", "make"]

RETRY = Retry(attempts=5)
UNDO_RETRY = Retry(attempts=10)


class Receipt(BaseModel):
    """What such a service proves with: it repeats the key. Fields beyond ours are not kept."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    idempotency_key: str


R = TypeVar("R", bound=Receipt)


async def make(call: Call[Any], path: str, body: Mapping[str, object], receipt: type[R]) -> R:
    """Do it, under the call's key."""
    return receipt.model_validate(await http.post(call, path, json=body))


async def find(call: Call[Any], path: str, receipt: type[R]) -> R | Absent | InProgress | CannotSay:
    """Ask what became of it."""
    found = await http.find(
        call, path, params={"key": call.key}, replies={404: CannotSay, "no_such_key": Absent}
    )
    return receipt.model_validate(found) if isinstance(found, dict) else found
