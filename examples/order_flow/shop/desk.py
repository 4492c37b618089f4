"""How one request is served: the rule for it, its key, the act, the answer.

Keys are honoured as a good provider does it: the same key and body get the stored answer again, be
it a success, a refusal or a stored error; another body under the key is 422; a key whose request
is not through yet is 409; after `key_life` a key is forgotten and protects no more. What landed can
be asked for by its key for ever, because it is kept with the thing itself.
"""

from __future__ import annotations

import asyncio
import time

from pydantic import ValidationError

from examples.order_flow.shop.holds import HangUp, Holds
from examples.order_flow.shop.ledger import Answer, Asked, Ledger
from examples.order_flow.shop.replies import (
    IN_FLIGHT,
    REUSED,
    early_answer,
    error,
    kept_answer,
    spoilt,
)
from examples.order_flow.shop.rules import Act, Book, Rule
from examples.order_flow.shop.services import SERVICES, No

__all__ = ["Desk"]


class Desk:
    """Acts for one request after the other; waits with many at a time."""

    def __init__(
        self, ledger: Ledger, book: Book, *, key_life: float, visible_after: float = 0.0
    ) -> None:
        self.ledger, self.book, self.holds = ledger, book, Holds()
        self.key_life, self.visible_after = key_life, visible_after
        self._in_flight: dict[str, Asked] = {}
        self._late: set[asyncio.Task[None]] = set()

    async def post(self, asked: Asked) -> Answer:
        """Do something, at most once per key."""
        rule = self.book.pick(asked)
        await self._before(asked, rule)
        answer = early_answer(rule) or await self._once(asked, rule)
        return await self._after(asked, rule, answer)

    async def get(self, asked: Asked) -> Answer:
        """Say what became of the request with this key."""
        rule = self.book.pick(asked)
        await self._before(asked, rule)
        answer = early_answer(rule)
        if answer is None:
            await self._slowly(asked, rule)
            answer = self._found(asked, hidden=_does(rule, "hide"))
        return await self._after(asked, rule, answer)

    async def _before(self, asked: Asked, rule: Rule | None) -> None:
        """What happens to a request before the shop knows of it."""
        if rule is None:
            return
        if rule.act == "drop_request":
            raise HangUp
        if rule.act == "late":
            task = asyncio.create_task(self._act_late(asked, rule))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            raise HangUp(silent=rule.silent)
        if rule.act == "hold_request" and not rule.visible:
            await self.holds.wait(asked, "request")

    async def _act_late(self, asked: Asked, rule: Rule) -> None:
        try:
            await self.holds.wait(asked, "late", rule.seconds)
        except HangUp:  # the shop closed: it never arrives
            return
        await self._once(asked, None)

    async def _once(self, asked: Asked, rule: Rule | None) -> Answer:
        """The act itself under its key, unless the key is known."""
        if asked.key in self._in_flight:
            return IN_FLIGHT
        self._in_flight[asked.key] = asked
        try:
            await self._slowly(asked, rule)
            return self._serve(asked, rule)
        finally:
            del self._in_flight[asked.key]

    async def _slowly(self, asked: Asked, rule: Rule | None) -> None:
        if rule is not None and rule.act == "hold_request" and rule.visible:
            await self.holds.wait(asked, "request")
        if rule is not None and rule.act == "slow_request":
            await asyncio.sleep(rule.seconds)

    def _serve(self, asked: Asked, rule: Rule | None) -> Answer:
        """One transaction: look at the key, act, keep the answer."""
        now = time.time()
        with self.ledger.transaction():
            if _does(rule, "forget"):
                self.ledger.forget(asked.key)
            known = self.ledger.answered(asked.key, since=now - self.key_life)
            if known is not None:
                digest, answer = known
                return answer if digest == asked.digest else REUSED
            answer = kept_answer(rule) or self._act(asked, now)
            if rule is not None and rule.act == "error_after" and rule.stored:
                answer = error(rule)
            self.ledger.keep_answer(asked, answer, now)
            return answer

    def _act(self, asked: Asked, now: float) -> Answer:
        service = SERVICES[asked.path]
        try:
            body = service.body.model_validate(asked.body)
            receipt = service.act(self.ledger.db, body, asked)
        except ValidationError as wrong:
            return Answer.error(400, "invalid_request", _faults(wrong))
        except No as no:
            return Answer.error(no.status, no.code)
        receipt |= {"idempotency_key": asked.key, "intent_digest": asked.intent_digest}
        self.ledger.land(asked, service.service, service.kind, receipt, now)
        return Answer.of(201, receipt)

    def _found(self, asked: Asked, *, hidden: bool) -> Answer:
        before = time.time() - self.visible_after
        receipt = self.ledger.receipt(asked.key, SERVICES[asked.path].kind, before=before)
        if receipt is not None and not hidden:
            return Answer.of(200, receipt)
        under_way = self._in_flight.get(asked.key)
        if under_way is not None and under_way.path == asked.path and not hidden:
            return Answer.of(202, {"status": "in_progress"})
        return Answer.error(404, "no_such_key", "nothing is known under this key")

    async def _after(self, asked: Asked, rule: Rule | None, answer: Answer) -> Answer:
        """What happens to the answer on its way back."""
        if rule is None:
            return answer
        if rule.act == "drop_answer":
            raise HangUp
        if rule.act == "hold_answer":
            await self.holds.wait(asked, "answer")
        if rule.act == "slow_answer":
            await asyncio.sleep(rule.seconds)
        return spoilt(answer, rule)


def _does(rule: Rule | None, act: Act) -> bool:
    return rule is not None and rule.act == act


def _faults(wrong: ValidationError) -> str:
    """Which fields are wrong, without their values."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}" for fault in wrong.errors()
    )
