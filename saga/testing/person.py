"""A person who decides cases, truthfully: what can be seen outside is what is said of it.

An impatient one: the verdict is tried at once, and again when it is no longer too early.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saga.client import Client
from saga.errors import NotAllowed
from saga.reconciliation.cases import Case
from saga.testing.moving import MovingClock
from saga.testing.outside import Outside

__all__ = ["decide_case", "verdicts_on"]


def verdicts_on(client: Client) -> Iterator[tuple[str, str]]:
    """The open cases, each with every verdict that is offered."""
    for case in client.cases():
        for verdict in case.verdicts:
            yield case.id, verdict


def decide_case(
    client: Client, case_id: str, verdict: str, outside: Outside, clock: MovingClock
) -> bool:
    """Look at the provider and decide; whether that was truthful and possible."""
    case = client.case(case_id)
    if _decided(client, case, verdict, outside, clock):
        return True
    if case.not_before is None or case.not_before.timestamp() <= clock.now():
        return False
    clock.move(case.not_before.timestamp() - clock.now())
    return _decided(client, client.case(case_id), verdict, outside, clock)


def _decided(
    client: Client, case: Case, verdict: str, outside: Outside, clock: MovingClock
) -> bool:
    landed, receipt = _seen(outside, case.key or "")
    if landed != (verdict == "landed") and verdict in ("landed", "absent", "retry"):
        return False  # that would be a lie, or a second one
    try:
        client.resolve(
            case.id,
            verdict,
            reason="explored",
            actor="explorer",
            receipt=receipt if verdict == "landed" else None,
            evidence={"undone": "seen at the provider", "raise": case.least}.get(verdict),
            looked_at=clock.now(),
        )
    except NotAllowed:
        return False
    return True


def _seen(outside: Outside, key: str) -> tuple[bool, Any]:
    """Whether it has landed by now, and the receipt that proves it."""
    outside.ledger()  # what was under way has arrived
    answer = outside.now.answers.get(key)
    if answer is None or not answer.landed:
        return False, None
    return True, {} if answer.receipt is None else answer.receipt
