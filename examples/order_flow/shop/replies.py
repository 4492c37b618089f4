"""What goes back: the shop's own standing answers, and answers spoilt by a rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from examples.order_flow.shop.ledger import Answer
from examples.order_flow.shop.rules import Rule

__all__ = ["IN_FLIGHT", "REUSED", "early_answer", "error", "kept_answer", "spoilt"]

IN_FLIGHT = Answer.error(409, "idempotency_key_in_use", "a request with this key is under way")
REUSED = Answer.error(422, "idempotency_key_reused", "this key came with another request")

_Spoil = Callable[[Answer], Answer]


def error(rule: Rule) -> Answer:
    """A server error."""
    return Answer.error(rule.status or 500, "internal_error", "something broke")


def early_answer(rule: Rule | None) -> Answer | None:
    """The answer of a shop that does not even look at the key."""
    if rule is None:
        return None
    if rule.act == "busy":
        wait = {} if rule.retry_after is None else {"Retry_After": rule.retry_after}
        return Answer.error(rule.status or 503, "busy", **wait)
    if rule.act == "in_flight":
        return IN_FLIGHT
    if rule.act == "error_before" and not rule.stored:
        return error(rule)
    if rule.act == "refuse" and rule.match.method == "GET":
        return Answer.error(rule.status or 400, rule.code)
    return None


def kept_answer(rule: Rule | None) -> Answer | None:
    """The answer that is kept under the key in place of acting."""
    if rule is not None and rule.act == "refuse":
        return Answer.error(rule.status or 400, rule.code)
    if rule is not None and rule.act == "error_before":
        return error(rule)
    return None


def spoilt(answer: Answer, rule: Rule) -> Answer:
    """The answer as it arrives after a rule has been at it."""
    if rule.act == "error_after":
        return error(rule)
    if rule.act == "malformed":
        return _MALFORMED[rule.how](answer)
    if rule.act == "wrong_key":
        other = {"idempotency_key": "of-another-request", "intent_digest": "sha256:of-another"}
        return Answer.of(answer.status, json.loads(answer.body) | other)
    return answer


def _headed(name: str, value: str) -> tuple[tuple[str, str], ...]:
    return ((name, value),)


_MALFORMED: Mapping[str, _Spoil] = {
    "json": lambda answer: replace(answer, body=answer.body[:-1] + b",}"),
    "html": lambda answer: replace(
        answer,
        body=b"<html><h1>Welcome back</h1></html>",
        headers=_headed("Content-Type", "text/html; charset=utf-8"),
    ),
    "truncated": lambda answer: replace(
        answer, headers=_headed("Content-Length", str(len(answer.body) + 100))
    ),
    "array": lambda answer: replace(answer, body=b"[" + answer.body + b"]"),
    "empty": lambda answer: replace(answer, body=b""),
    "huge": lambda answer: replace(
        answer, body=answer.body[:-1] + b',"x":"' + b"x" * 2_000_000 + b'"}'
    ),
    "type": lambda answer: replace(answer, headers=_headed("Content-Type", "text/plain")),
}
