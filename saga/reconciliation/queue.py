"""The reconciliation queue: reading cases, and carrying a person's verdict to the run."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from saga.definition.forms import misfit
from saga.errors import BadInput, Conflict, NotAllowed, SagaError, Tampered, UnknownCase
from saga.journal import inquiry
from saga.journal.database import Database
from saga.journal.definitions import Specs, stored_spec
from saga.journal.history import History, load
from saga.journal.quarantine import DAMAGED
from saga.journal.readmission import close_damaged
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.transact import ask
from saga.machine.commands import Rejected, Rejection, Resolve
from saga.machine.state import FORWARD, Action
from saga.machine.verdicts import VERDICTS
from saga.reconciliation.cases import Case, case_view, row_view
from saga.reconciliation.words import ECHOES, echoed

__all__ = ["Decision", "list_cases", "read_case", "resolve_case"]

_CASE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}/[A-Za-z0-9~]{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person has decided: verdict, name, reason, what was shown when, and the proof."""

    verdict: str
    actor: str
    reason: str
    case_version: int
    looked_at: float  # unix seconds
    receipt: Any
    evidence: str | None


def list_cases(
    connection: Any, keys: Keyring, specs: Specs, now: float, state: str | None
) -> list[Case]:
    """The cases in a state (all with `None`), oldest first."""
    histories: dict[str, History | None] = {}
    found: list[Case] = []
    for row in inquiry.case_rows(connection, state=state):
        if row.run_id not in histories:
            histories[row.run_id] = _history(connection, keys, specs, row.run_id)
        found.append(_view(connection, keys, row, histories[row.run_id], now))
    return found


def read_case(connection: Any, keys: Keyring, specs: Specs, now: float, case_id: str) -> Case:
    """One case. Raises `UnknownCase`."""
    known = _CASE_ID.fullmatch(case_id)
    rows = inquiry.case_rows(connection, case_id=case_id) if known else []
    if not rows:
        raise UnknownCase(f"no case {case_id!a} in this database", remedy="see: saga cases")
    history = _history(connection, keys, specs, rows[0].run_id)
    return _view(connection, keys, rows[0], history, now)


def resolve_case(database: Database, case_id: str, decision: Decision) -> Case:
    """Carry a verdict to the run of a case, and give the case as it stands after."""
    keys, specs = database.keys, Specs(database.keys)
    if decision.verdict not in VERDICTS:
        raise NotAllowed(
            Rejection.NOT_POSSIBLE.value,
            f"there is no verdict {decision.verdict!a}",
            remedy=f"one of {', '.join(VERDICTS)}",
        )
    if decision.receipt is not None and decision.verdict != "landed":
        raise BadInput(
            f"{decision.verdict} takes no receipt",
            remedy="say landed if it proves that it happened, or leave it out",
        )

    def read(connection: Any) -> Case:
        return read_case(connection, keys, specs, database.now(), case_id)

    before = database.read(read)
    if before.kind == DAMAGED:
        database.write(lambda connection: _close(connection, database, specs, before, decision))
        return database.read(read)
    if decision.receipt is not None:
        database.read(lambda c: _ensure_own(c, keys, specs, before, decision.receipt))

    def letter(at: float) -> Resolve:
        return Resolve(at=at, case=case_id, **asdict(decision))

    answered = ask(database, specs, before.run_id, letter)
    if answered.rejected is not None:
        raise _refusal(case_id, answered.rejected)
    return database.read(read)


def _close(
    connection: Any, database: Database, specs: Specs, case: Case, decision: Decision
) -> None:
    close_damaged(
        connection,
        database.keys,
        specs,
        case.id,
        decision.verdict,
        version=decision.case_version,
        actor=decision.actor,
        reason=decision.reason,
        evidence=decision.evidence,
        now=database.now(),
    )


def _ensure_own(connection: Any, keys: Keyring, specs: Specs, case: Case, receipt: Any) -> None:
    """The receipt that a person brings may not name another action, and has its fields."""
    history = load(connection, keys, specs, case.run_id)
    action = history.state.actions[history.state.cases[case.id].key]
    echoed(receipt, action.key, action.digest)
    fields = _receipt_fields(connection, keys, history, action)
    bare = {name: one for name, one in receipt.items() if name in fields or name not in ECHOES}
    if fields and (fault := misfit(fields, bare)) is not None:
        raise BadInput(f"the receipt {fault}", remedy="write down what the provider shows")


def _refusal(case_id: str, rejected: Rejected) -> SagaError:
    if rejected.reason is Rejection.UNKNOWN_CASE:
        return UnknownCase(rejected.text)
    if rejected.reason in (Rejection.STALE_CASE, Rejection.CASE_CLOSED):
        return Conflict(rejected.text, remedy=f"read it again: saga case {case_id}")
    return NotAllowed(rejected.reason.value, rejected.text, remedy=f"see: saga case {case_id}")


def _history(connection: Any, keys: Keyring, specs: Specs, run_id: str) -> History | None:
    try:
        return load(connection, keys, specs, run_id)
    except (NewerFormat, SagaError):
        return None


def _view(connection: Any, keys: Keyring, row: Any, history: History | None, now: float) -> Case:
    if history is None or row.case_id not in history.state.cases:
        return row_view(row, now)
    case = history.state.cases[row.case_id]
    action = history.state.actions[case.key]
    fields = _receipt_fields(connection, keys, history, action)
    return case_view(history, case, fields, now)


def _receipt_fields(
    connection: Any, keys: Keyring, history: History, action: Action
) -> dict[str, Any]:
    """Names and types of the receipt of a forward action, where they are known."""
    if action.direction != FORWARD:
        return {}
    try:
        row = stored_spec(connection, keys, history.state.definition)["steps"][action.step]
        row = row["instead"][action.choice - 1] if action.choice else row
    except (Tampered, LookupError):
        return {}  # only a help for whoever writes it down
    fields: dict[str, Any] = row["effect"]["receipt"]
    return fields
