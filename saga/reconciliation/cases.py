"""Cases as a person reads them: what is known, what may be decided, and what each verdict does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any

from saga.journal.history import History
from saga.journal.quarantine import DAMAGED
from saga.machine.bounds import look_bound
from saga.machine.budgets import least_raise
from saga.machine.facts import Error, Json
from saga.machine.state import Case as CaseState
from saga.machine.state import step_of
from saga.machine.verdicts import verdicts
from saga.machine.ways import contract_of
from saga.views import moment, since

__all__ = ["Case", "case_view", "row_view"]

_DAMAGED_VERDICTS = {
    "retry": "If the run verifies again (its rows were restored), orchestrators take it up again.",
    "accept": "It stays aside for good, under your name; no orchestrator touches it.",
}


@dataclass(frozen=True, slots=True)
class Case:
    """An entry of the reconciliation queue. Times are UTC.

    `text` says what nobody can settle and why the machine stopped, `verdicts` what may be decided
    and what follows. `not_before`: a verdict that nothing happened needs a look at the provider
    from after that time (`None`: no such bound, or a call of it still runs). `read_at` is when this
    was read. `running`: a call of it has not returned, and until it has nobody can say that nothing
    happened. `args`: what is sent. `receipts`: everything that was returned for the action, the
    recorded one first.
    `reverses`: the receipt of what an undo takes back, if there is one.
    `receipt_fields`: names and types of the receipt that `landed` needs, where known. `least`: what
    `raise` needs as evidence at least, as "EUR=150.00".
    """

    id: str
    run_id: str
    key: str | None
    step: str | None
    item: str | None
    direction: str | None
    kind: str
    state: str
    version: int
    opened_at: datetime
    closed_at: datetime | None
    verdict: str | None
    actor: str | None
    reason: str
    evidence: str | None
    text: str
    error: Error | None
    not_before: datetime | None
    read_at: datetime
    verdicts: dict[str, str]
    receipts: tuple[Json, ...]
    receipt_fields: dict[str, Any]
    least: str = ""
    reverses: Json = None
    args: Json = None
    running: bool = False


def case_view(
    history: History, case: CaseState, receipt_fields: dict[str, Any], now: float
) -> Case:
    """A case of a verified run."""
    state = history.state
    action = state.actions[case.key]
    bound: float | None = None
    if case.state == "open" and action.state == "unknown":
        bound = look_bound(action, contract_of(history.spec, action))
    return Case(
        id=case.id,
        run_id=state.run_id,
        key=case.key,
        step=step_of(history.spec.steps, action).name,
        item=action.item,
        direction=action.direction,
        kind=case.kind,
        state=case.state,
        version=case.version,
        opened_at=since(case.opened_at),
        closed_at=moment(case.closed_at),
        verdict=case.verdict,
        actor=case.actor,
        reason=case.reason,
        evidence=case.evidence,
        text=case.text,
        error=case.error,
        not_before=moment(bound) if bound != inf else None,
        read_at=since(now),
        verdicts=verdicts(history.spec, state, case, now) if case.state == "open" else {},
        reverses=None if action.of_key is None else state.actions[action.of_key].receipt,
        receipts=(*([action.receipt] if action.state == "landed" else []), *action.others),
        receipt_fields=receipt_fields,
        least=least_raise(history.spec, state, action) if case.kind == "budget" else "",
        args=action.args,
        running=bound == inf,
    )


def row_view(row: Any, now: float) -> Case:
    """A case of a run that cannot be read; there is nothing but its row."""
    text = (
        "What is stored of this run does not verify, so nothing can be decided here. What is wrong "
        f"says its case {row.run_id}/{DAMAGED}, which an orchestrator opens when it comes by, or: "
        f"saga verify {row.run_id}"
    )
    if row.kind == DAMAGED:
        text = (
            f"What is stored of this run does not verify, so nothing acts on it: {row.reason}. "
            "Restore its rows from a backup and decide retry, or accept that it stays aside."
        )
    decidable = row.kind == DAMAGED and row.state == "open"
    return Case(
        id=row.case_id,
        run_id=row.run_id,
        key=row.key,
        step=row.step,
        item=row.item,
        direction=row.direction,
        kind=row.kind,
        state=row.state,
        version=row.version,
        opened_at=since(row.opened_at),
        closed_at=moment(row.closed_at),
        verdict=row.verdict,
        actor=row.actor,
        reason=row.reason or "",
        evidence=row.evidence,
        text=text,
        error=None,
        not_before=None,
        read_at=since(now),
        verdicts=_DAMAGED_VERDICTS if decidable else {},
        receipts=(),
        receipt_fields={},
    )
