"""The rows that a state must have: what is written after a transition and compared on recovery.

One function a table, used by the writer and by `verify`, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from saga.journal.records import json_text
from saga.journal.sealing import Keyring
from saga.machine.events import Event
from saga.machine.state import Action, Case, RunState, step_of

__all__ = [
    "Row",
    "TurnChange",
    "action_row",
    "action_values",
    "case_row",
    "head_row",
    "seal_head",
    "touched_actions",
    "touched_cases",
    "turn_change",
    "turn_row",
    "verify_head",
]

Row: TypeAlias = tuple[Any, ...]
_TURNING = {"started", "turn_taken", "parked", "turn_asked", "winding_down", "ended"}


@dataclass(frozen=True, slots=True)
class TurnChange:
    """What a record does to the run's row of `turns`. `kind`: new, set or gone."""

    kind: str
    row: Row  # new: all columns; set: state, since, run id; gone: run id


def head_row(state: RunState, seq: int, due: float | None) -> dict[str, Any]:
    """The sealed columns of `runs`; owner, fence and quarantine are not the journal's."""
    return {
        "run_id": state.run_id,
        "tenant": state.tenant,
        "saga": state.saga,
        "saga_version": state.saga_version,
        "definition": state.definition,
        "phase": state.phase,
        "outcome": state.outcome,
        "cause": state.cause,
        "version": seq,
        "due_at": _real(due),
        "watch_until": _real(state.watch_until),
        "started_at": _real(state.started_at),
        "ended_at": _real(state.ended_at),
    }


def _head_parts(state: RunState, seq: int, due: float | None, last: str) -> tuple[str, ...]:
    return (
        state.run_id,
        str(seq),
        last,
        state.phase,
        state.outcome or "",
        repr(due),
        state.definition,
    )


def seal_head(keys: Keyring, state: RunState, seq: int, due: float | None, last: str) -> str:
    """The seal of the head: run, sequence, last seal, phase, outcome, due time, definition."""
    return keys.seal("head", *_head_parts(state, seq, due, last))


def verify_head(
    keys: Keyring, key_id: str, seal: str, state: RunState, seq: int, due: float | None, last: str
) -> bool:
    """Whether `seal` is the seal of this head."""
    return keys.verify(key_id, seal, "head", *_head_parts(state, seq, due, last))


def action_values(action: Action) -> Row:
    """What of a row of `actions` changes: state, attempts, receipt."""
    receipt = json_text(action.receipt) if action.state == "landed" else None
    return action.state, action.attempts, receipt


def action_row(state: RunState, action: Action) -> Row:
    """A row of `actions`, in the order of its columns."""
    current, attempts, receipt = action_values(action)
    return (
        action.key,
        state.run_id,
        step_of(state.steps, action).name,
        action.item,
        action.direction,
        action.generation,
        action.effect,
        action.effect_version,
        action.target,
        action.digest,
        current,
        attempts,
        json_text(action.args),
        receipt,
    )


def case_row(state: RunState, case: Case) -> Row:
    """A row of `cases`, in the order of its columns."""
    action = state.actions[case.key]
    return (
        case.id,
        state.run_id,
        case.key,
        step_of(state.steps, action).name,
        action.item,
        action.direction,
        case.kind,
        case.state,
        case.version,
        _real(case.opened_at),
        _real(case.closed_at),
        case.verdict,
        case.actor,
        case.reason,
        case.evidence,
        None,  # no seal of its own: it follows from the journal
        None,
    )


def _real(moment: float | None) -> float | None:
    """A time as a REAL column gives it back: a clock may have said a whole number."""
    return None if moment is None else float(moment)


def touched_actions(state: RunState, events: Iterable[Event]) -> dict[str, bool]:
    """The keys of actions whose row changes; True for those that are new."""
    touched: dict[str, bool] = {}
    for event in events:
        key = getattr(event, "key", None)
        if key is None:
            continue
        if event.kind == "intended":
            touched[key] = True
        else:
            touched.setdefault(key, False)
            of = state.actions[key].of_key
            if of is not None and event.kind in ("landed", "undone"):
                touched.setdefault(of, False)  # undone while unknown changes what was undone
    return touched


def touched_cases(state: RunState, events: Iterable[Event]) -> dict[str, bool]:
    """The ids of cases whose row changes; True for those that are new."""
    touched: dict[str, bool] = {}
    for event in events:
        if event.kind == "case_opened":
            touched[event.case] = True  # type: ignore[union-attr]
        elif event.kind == "case_closed":
            touched.setdefault(event.case, False)  # type: ignore[union-attr]
        elif event.kind == "cases_outdated":
            for one in state.cases.values():
                if one.state == "open":
                    touched.setdefault(one.id, False)
        elif (key := getattr(event, "key", None)) is not None:
            case = state.actions[key].case
            if case is not None:
                touched.setdefault(case, False)
    return touched


def turn_row(state: RunState) -> Row | None:
    """The row of `turns`, in the order of its columns; `None` for a run that needs no turn."""
    if state.turn is None:
        return None
    return (
        state.run_id,
        state.tenant,
        state.resource,
        state.turn,
        _real(state.started_at),
        _real(state.turn_at),
    )


def turn_change(state: RunState, events: Iterable[Event]) -> TurnChange | None:
    """How the row of `turns` changes with these events, of a run that has a resource."""
    kinds = {event.kind for event in events} & _TURNING
    if not kinds:
        return None
    row = turn_row(state)
    if row is None:
        return TurnChange("gone", (state.run_id,))
    if "started" in kinds:
        return TurnChange("new", row)
    return TurnChange("set", (state.turn, row[5], state.run_id))
