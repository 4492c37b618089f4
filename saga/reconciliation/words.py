"""What a person or another process says: who, why, when it looked, and what it brings as proof.

Everything is checked before it reaches a run. Nothing of it is quoted in an error.
"""

from __future__ import annotations

import os
import pwd
from datetime import UTC, datetime
from functools import cache
from typing import Any

from saga.definition.values import any_json
from saga.errors import BadInput, Conflict
from saga.journal.records import PAYLOAD_LIMIT, json_size

__all__ = ["ECHOES", "checked_text", "echoed", "os_user", "receipt_value", "unix_time", "who"]

_TEXT_LONGEST = 2000
_ACTOR_LONGEST = 200
_FIRST, _LAST = (
    datetime(2000, 1, 1, tzinfo=UTC).timestamp(),
    datetime(2100, 1, 1, tzinfo=UTC).timestamp(),
)
ECHOES = ("idempotency_key", "intent_digest")


def checked_text(what: str, text: object, longest: int = _TEXT_LONGEST) -> str:
    """A text that says something and can be stored. Raises `BadInput`."""
    if not isinstance(text, str):
        raise BadInput(f"the {what} is {type(text).__name__}", remedy=f"say the {what} in words")
    if not text.strip():
        raise BadInput(f"the {what} is empty", remedy=f"say the {what} in words")
    if len(text) > longest:
        raise BadInput(
            f"the {what} has {len(text)} characters; the limit is {longest}",
            remedy="say it shorter, and name the place where the rest is kept",
        )
    any_json(what, text)
    return text


def who(actor: str | None) -> str:
    """Under whose name something is recorded: the user of this process by default."""
    return os_user() if actor is None else checked_text("actor", actor, _ACTOR_LONGEST).strip()


def os_user() -> str:
    """The user of this process, by the operating system's word, not the environment's."""
    uid = os.getuid()
    try:
        return _name_of(uid)
    except KeyError:  # not kept: a directory that is out of reach knows the name later
        return f"uid {uid}"


@cache
def _name_of(uid: int) -> str:
    return pwd.getpwuid(uid).pw_name


def unix_time(what: str, moment: datetime | float | str) -> float:
    """A time with an offset, in unix seconds. Raises `BadInput`."""
    try:
        parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if isinstance(parsed, datetime) and parsed.tzinfo is None:
            fault = "it has no offset"
        else:
            at = parsed.timestamp() if isinstance(parsed, datetime) else float(parsed)
            if _FIRST <= at <= _LAST:
                return at
            fault = "it is not between the years 2000 and 2100"
    except (TypeError, ValueError, OverflowError):
        fault = "it cannot be read"
    raise BadInput(f"{what} is no time: {fault}", remedy="write it like 2026-11-29T03:00:00+00:00")


def receipt_value(receipt: Any, what: str = "receipt") -> Any:
    """A receipt, a model or its dict, as the JSON to store. Raises `BadInput`."""
    plain = any_json(what, receipt)
    if plain is not None and not isinstance(plain, dict):
        raise BadInput(
            f"the {what} is {type(plain).__name__}",
            remedy="give the model, or a dict of its fields",
        )
    size = json_size(plain)
    if size > PAYLOAD_LIMIT:
        raise BadInput(
            f"the {what} has {size} bytes; the limit is {PAYLOAD_LIMIT}",
            remedy="keep what identifies the action, and leave out the rest",
        )
    return plain


def echoed(receipt: Any, key: str, digest: str) -> None:
    """Refuse a receipt that names another key or digest: it proves another action."""
    for name, own in zip(ECHOES, (key, digest), strict=True):
        if isinstance(receipt, dict) and name in receipt and receipt[name] != own:
            raise Conflict(
                f"the receipt's {name} is not that of {key}",
                remedy="look for the receipt of this action; this one proves another",
            )
