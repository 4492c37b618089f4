"""A person who decides cases, truthfully: what can be seen outside is what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from saga.client import Client
from saga.errors import NotAllowed
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
    if case.not_before is not None:
        clock.move(case.not_before.timestamp() - clock.now())
        case = client.case(case_id)
    outside.ledger()  # what was under way has arrived
    there = outside.now.answers.get(case.key or "")
    landed = there is not None and there.landed
    if verdict == "landed" and not landed:
        return False
    if verdict == "absent" and landed:
        return False
    receipt = there.receipt if landed and there is not None else None
    if verdict == "landed" and receipt is None:
        receipt = {}
    with suppress(NotAllowed):
        client.resolve(
            case_id,
            verdict,
            reason="explored",
            actor="explorer",
            receipt=receipt if verdict == "landed" else None,
            evidence="seen at the provider" if verdict == "undone" else None,
            looked_at=clock.now(),
        )
        return True
    return False
