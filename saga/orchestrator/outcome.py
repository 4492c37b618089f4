"""What a call comes to: whatever user code does becomes exactly one reply.

A receipt, or one of three words. Everything undeclared is unknown: a time-out, a cancelled task, an
unreadable or unstorable reply, an echo that differs, any other exception, `SystemExit` included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from saga.definition.answers import Absent, CannotSay, InProgress, NotSent, Refused, Satisfied
from saga.definition.contracts import Compensation, Effect
from saga.definition.values import any_json
from saga.errors import Conflict
from saga.journal.records import PAYLOAD_LIMIT, json_size
from saga.machine.facts import Error, Json
from saga.orchestrator.describe import describe

__all__ = ["Answer", "Contract", "Result", "Unstorable", "answer_of", "result_of", "timed_out"]

_ECHOES = {"idempotency_key": "key", "intent_digest": "digest"}
_LONGEST_WAIT = 10 * 365 * 86_400.0  # nobody means a longer one

Contract: TypeAlias = Effect[Any, Any] | Compensation[Any, Any]


class Unstorable(Exception):
    """A receipt that cannot be kept: too large, not JSON, or with the echo of another call."""


class Result(NamedTuple):
    """Of one attempt: `landed`, `satisfied` (by evidence), `refused`, `not_sent` or `unknown`."""

    name: str
    receipt: Json = None
    error: Error | None = None
    retry_after: float | None = None
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one probe: `landed`, `absent`, `in_progress` or `cannot_say`."""

    name: str
    receipt: Json = None
    reason: str = ""


def result_of(  # noqa: PLR0911  one line for each thing that it may be
    contract: Contract,
    receipt_json: Callable[[Any], Json],
    call: Any,
    value: Any,
    error: BaseException | None,
    now: float,
) -> Result:
    """The one result, at `now`, of a function that returned `value` or raised `error`."""
    if error is None and isinstance(value, Satisfied) and isinstance(contract, Effect):
        return _satisfied(value)
    if error is None:
        try:
            return Result("landed", receipt=_checked(receipt_json, call, value))
        except BaseException as broken:  # noqa: BLE001  a model's own validators are user code
            return Result("unknown", error=describe(broken))
    if isinstance(error, Conflict):
        return Result("unknown", error=describe(error), conflict=True)
    if isinstance(error, (Refused, *contract.refused)):
        return Result("refused", error=describe(error))
    if isinstance(error, NotSent):
        return Result(
            "not_sent", error=describe(error), retry_after=_seconds(error.retry_after, now)
        )
    if isinstance(error, contract.not_sent):
        return Result("not_sent", error=describe(error))
    return Result("unknown", error=describe(error))


def _satisfied(value: Satisfied) -> Result:
    try:
        return Result("satisfied", receipt=_sized(any_json("evidence", value.evidence)))
    except BaseException as broken:  # noqa: BLE001  a model's own validators are user code
        return Result("unknown", error=describe(broken))


def timed_out(seconds: float) -> Result:
    """The call was cut off at its deadline."""
    error: Error = {
        "type": "TimeoutError",
        "text": f"no answer within {seconds:g} s",
        "leaves": [],
    }
    return Result("unknown", error=error)


def answer_of(  # noqa: PLR0911  as above
    receipt_json: Callable[[Any], Json], call: Any, value: Any, error: BaseException | None
) -> Answer:
    """The one answer of a probe. `None` and whatever it raises mean that it cannot say."""
    if error is not None:
        described = describe(error)
        return Answer("cannot_say", reason=f"{described['type']}: {described['text']}"[:500])
    if isinstance(value, Absent):
        return Answer("absent")
    if isinstance(value, InProgress):
        return Answer("in_progress")
    if isinstance(value, CannotSay):
        return Answer("cannot_say", reason=describe(Exception(value.reason))["text"][:500])
    if value is None:
        return Answer("cannot_say", reason="the probe returned None; answer with Absent() instead")
    try:
        return Answer("landed", receipt=_checked(receipt_json, call, value))
    except BaseException as broken:  # noqa: BLE001  as above
        described = describe(broken)
        return Answer("cannot_say", reason=f"{described['type']}: {described['text']}"[:500])


def _checked(receipt_json: Callable[[Any], Json], call: Any, value: Any) -> Json:
    receipt = _sized(receipt_json(value))
    if isinstance(receipt, dict):
        for field, name in _ECHOES.items():
            if field in receipt and receipt[field] != getattr(call, name):
                raise Unstorable(f"the receipt's {field} is not that of this call")
    return receipt


def _sized(receipt: Json) -> Json:
    size = json_size(receipt) if receipt is not None else 0
    if size > PAYLOAD_LIMIT:
        raise Unstorable(f"a receipt of {size} bytes; the limit is {PAYLOAD_LIMIT}")
    return receipt


def _seconds(retry_after: timedelta | datetime | float | None, now: float) -> float | None:
    """Seconds from `now`; the past is at once, and nonsense is no wish: then our own wait holds."""
    if isinstance(retry_after, datetime):
        if retry_after.tzinfo is None:
            return None
        retry_after = retry_after.timestamp() - now
    if isinstance(retry_after, timedelta):
        retry_after = retry_after.total_seconds()
    return _sensible(retry_after)


def _sensible(wish: object) -> float | None:
    if not isinstance(wish, int | float) or not wish <= _LONGEST_WAIT:
        return None
    return float(max(wish, 0.0))
