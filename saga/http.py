"""From HTTP replies to results, for effects and probes whose provider speaks HTTP.

    async def charge(call: Call[Charge]) -> ChargeReceipt:
        return ChargeReceipt.model_validate(await http.post(call, "/charges", json=call.args))

    async def find_charge(call: Call[Charge]) -> ChargeReceipt | Absent | InProgress | CannotSay:
        found = await http.find(call, "/charges", params={"key": call.key})
        return ChargeReceipt.model_validate(found) if isinstance(found, dict) else found

What `post` makes of a reply, and what `find` makes of it:

    reply                                                post                   find
    ---------------------------------------------------  ---------------------  ------------
    200, 201 with a JSON object; 204, which is {}        the dict               200: the dict
    cannot connect (refused, TLS, proxy, pool, time-out) NotSent                CannotSay
    429, 503                                             NotSent, Retry-After   CannotSay
    409                                                  Unknown (in flight)    InProgress
    202                                                  Unknown                InProgress
    422; any 4xx that says so by `OTHER_BODY`            Conflict               CannotSay
    404                                                  Refused                Absent
    every other 4xx                                      Refused                CannotSay
    5xx, 1xx, 3xx (never followed), other 2xx, no reply, Unknown                CannotSay
    one that breaks off, is too long or no JSON object

`replies` changes this for one call, by status or by the provider's own error code, which wins:
`{402: CardDeclined, 503: Unknown, "out_of_stock": Refused, 202: dict}`, and for `find`
`{404: CannotSay, "no_such_charge": Absent}`. The error code is `error.code`, `error` or `code` of a
JSON body, where that is one short word.

Rules that hold here:

- Unknown is what is left when nothing is proven. A wrong address that answers 404 proves nothing
  either: give the provider's own code for "absent" where it has one.
- A request leaves at most once per call. Redirects are not followed; retrying is the machine's.
- A reason has status and error code, or the name of an exception. Never a body, an address or a
  header: they may hold secrets.
- The call's deadline bounds everything. Each phase before the first byte gets a quarter of what is
  left, so that a failure to connect is known as such and not cut off as unknown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from saga.clock import Clock
from saga.definition.answers import Absent, CannotSay, InProgress, NotSent, Refused, Unknown
from saga.definition.calls import Call, Undo
from saga.definition.strict_json import strict_loads
from saga.errors import Conflict

try:
    import httpx2
except ModuleNotFoundError as error:
    if error.name != "httpx2":
        raise
    raise ModuleNotFoundError(
        "saga.http needs httpx2, the extra [http]: pip install 'saga-orchestrator[http]'",
        name="httpx2",
    ) from None

__all__ = [
    "BODY_MAX",
    "OTHER_BODY",
    "RETRY_AFTER_LONGEST",
    "FindReplies",
    "PostReplies",
    "find",
    "post",
]

BODY_MAX = 256 * 1024  # bytes of a reply; a receipt has to fit into a record of the journal
RETRY_AFTER_LONGEST = timedelta(days=1)  # what a provider may ask for at most
OTHER_BODY = frozenset(  # error codes that say: this key came with another request before
    {"idempotency_error", "idempotency_key_mismatch", "idempotency_key_reused"}
)

_Object = dict[str, Any]
PostReplies = Mapping[int | str, type[Exception | _Object]]
FindReplies = Mapping[int | str, type[Absent | InProgress | CannotSay | _Object]]

_POSTED: Mapping[int, type[Exception | _Object]]
_POSTED = {200: dict, 201: dict, 204: dict, 409: Unknown, 422: Conflict, 429: NotSent, 503: NotSent}
_FOUND: Mapping[int, type[Absent | InProgress | CannotSay | _Object]]
_FOUND = {200: dict, 202: InProgress, 404: Absent, 409: InProgress}
_CONNECTING = httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError

_M = TypeVar("_M")

_CLOCK = Clock()
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_SECONDS = re.compile(r"([+-]?)([0-9]+)(?:\.[0-9]*)?")
_JSON = re.compile(r"application/(?:[a-z0-9.!#$&^_-]+\+)?json(?:\s*;.*)?", re.IGNORECASE)


async def post(
    call: Call[Any],
    url: str,
    *,
    json: BaseModel | Mapping[str, object],
    client: httpx2.AsyncClient | None = None,
    headers: Mapping[str, str] | None = None,
    replies: PostReplies | None = None,
) -> _Object:
    """POST `json` under the call's key; the JSON object of the reply, or the result raised."""
    body = json.model_dump(mode="json") if isinstance(json, BaseModel) else dict(json)
    own = _headers(call, headers)
    own["Idempotency-Key"] = call.key
    client = client or call.resource(httpx2.AsyncClient)
    reply = await _exchange(call, client, "POST", url, json=body, headers=own)
    meaning = _chosen(reply, replies) or _meaning(reply)
    if issubclass(meaning, dict):
        return reply.read()
    raise _error(meaning, reply)


async def find(
    call: Call[Any],
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    client: httpx2.AsyncClient | None = None,
    headers: Mapping[str, str] | None = None,
    replies: FindReplies | None = None,
) -> _Object | Absent | InProgress | CannotSay:
    """GET what became of the call: the JSON object found, or what the reply says instead."""
    own = _headers(call, headers)
    client = client or call.resource(httpx2.AsyncClient)
    try:
        reply = await _exchange(call, client, "GET", url, params=params, headers=own)
        meaning = _chosen(reply, replies) or _FOUND.get(reply.status, CannotSay)
        if issubclass(meaning, dict):
            return reply.read()
    except (NotSent, Unknown) as no_word:
        return CannotSay(str(no_word))
    return CannotSay(reply.reason) if issubclass(meaning, CannotSay) else meaning()


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply as far as it matters. `fault`: why its body proves nothing, if that is so."""

    status: int
    retry_after: str | None
    body: bytes
    fault: str

    @property
    def code(self) -> str:
        """The provider's machine-readable error code; empty for a success or anything odd."""
        if self.status < 400 or self.fault:
            return ""
        try:
            value = strict_loads(self.body)
        except ValueError:
            return ""
        error = value.get("error", value) if isinstance(value, dict) else None
        code = error.get("code") if isinstance(error, dict) else error
        return code if isinstance(code, str) and _CODE.fullmatch(code) else ""

    @property
    def reason(self) -> str:
        return f"{self.status} {self.code}".rstrip()

    def read(self) -> _Object:
        """The JSON object of a success; `Unknown` if that is not what came."""
        if self.status == 204 and not self.body:
            return {}
        if self.fault:
            raise Unknown(f"{self.status}, but {self.fault}")
        try:
            value = strict_loads(self.body)
        except ValueError:
            raise Unknown(f"{self.status}, but the body is not strict JSON") from None
        if not isinstance(value, dict):
            raise Unknown(f"{self.status}, but the body is not a JSON object")
        return value


async def _exchange(
    call: Call[Any], client: httpx2.AsyncClient, method: str, url: str, **content: Any
) -> _Reply:
    """Send the request once and read the reply: `NotSent` if it provably never left."""
    left = (call.deadline - _now()).total_seconds()
    if left <= 0:
        raise NotSent("the deadline of this attempt had passed before the request")
    timeout = _timeouts(client.timeout, left)
    request = client.build_request(method, url, timeout=timeout, **content)
    try:
        async with asyncio.timeout(left):
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                return await _read(response)
            finally:
                await response.aclose()
    except httpx2.UnsupportedProtocol:
        raise  # a mistake in the effect's own code, which its text explains
    # `from None`: the other exceptions of a client may quote what was sent or came back.
    except _CONNECTING as error:
        raise NotSent(f"cannot connect: {type(error).__name__}") from None
    except httpx2.RequestError as error:
        raise Unknown(f"no whole reply: {type(error).__name__}") from None
    except TimeoutError:
        raise Unknown("no whole reply before the deadline of this attempt") from None


def _timeouts(own: httpx2.Timeout, left: float) -> httpx2.Timeout:
    def least(limit: float | None, bound: float) -> float:
        return bound if limit is None else min(limit, bound)

    return httpx2.Timeout(
        pool=least(own.pool, left / 4),
        connect=least(own.connect, left / 4),
        write=least(own.write, left),
        read=least(own.read, left),
    )


async def _read(response: httpx2.Response) -> _Reply:
    """Read at most `BODY_MAX` bytes, as they came: what is packed may unpack to anything."""
    body = bytearray()
    fault = ""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > BODY_MAX:
            fault = f"the body is longer than {BODY_MAX} bytes"
            break
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        fault = "the body is packed, which was not asked for"
    elif not fault and not _JSON.fullmatch(response.headers.get("content-type", "")):
        fault = "the body is not declared as JSON"
    retry_after = response.headers.get("retry-after")
    return _Reply(response.status_code, retry_after, bytes(body[: BODY_MAX + 1]), fault)


def _headers(call: Call[Any], extra: Mapping[str, str] | None) -> httpx2.Headers:
    headers = httpx2.Headers(extra)
    headers["Accept"] = "application/json"
    headers["Accept-Encoding"] = "identity"
    headers["Saga-Run"] = call.run_id
    headers["Saga-Step"] = call.step
    headers["Saga-Digest"] = call.digest
    if isinstance(call, Undo):
        headers["Saga-Of-Key"] = call.of_key
    return headers


def _chosen(reply: _Reply, replies: Mapping[int | str, _M] | None) -> _M | None:
    """What the caller's own table says: by error code, else by status."""
    if not replies:
        return None
    return replies.get(reply.code) or replies.get(reply.status)


def _meaning(reply: _Reply) -> type[Exception | _Object]:
    client_error = 400 <= reply.status < 500
    if client_error and reply.code in OTHER_BODY:
        return Conflict
    return _POSTED.get(reply.status, Refused if client_error else Unknown)


def _error(meaning: type[Exception], reply: _Reply) -> Exception:
    if issubclass(meaning, NotSent):
        return meaning(reply.reason, retry_after=_retry_after(reply.retry_after))
    if issubclass(meaning, Conflict):
        return meaning(f"{reply.reason}: the provider has this key with another request")
    if meaning is Unknown and reply.status in (202, 409):
        return Unknown(f"{reply.reason}: still in progress under this key")
    return meaning(reply.reason)


def _retry_after(text: str | None) -> timedelta | None:
    """Seconds or an HTTP date: the past is now, the absurd is a day, nonsense is nothing."""
    if text is None:
        return None
    seconds = _SECONDS.fullmatch(text.strip())
    if seconds:
        sign, digits = seconds.groups()
        if sign == "-":
            return timedelta(0)
        first = digits.lstrip("0")[:9]  # `int` refuses thousands of digits, `timedelta` overflows
        return min(timedelta(seconds=int(first or 0)), RETRY_AFTER_LONGEST)
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        wait = moment - _now()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(timedelta(0), min(wait, RETRY_AFTER_LONGEST))


def _now() -> datetime:
    return datetime.fromtimestamp(_CLOCK.now(), UTC)
