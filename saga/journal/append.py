"""Appends: a record with every row that it changes, built once and written in one transaction.

Every write names the run and the version that it was decided on; an owner's also its fence. A lost
race changes no row and is `Conflict`: read again, decide again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from saga.journal.projection import (
    Row,
    TurnChange,
    action_row,
    action_values,
    case_row,
    seal_head,
    touched_actions,
    touched_cases,
    turn_change,
)
from saga.journal.records import seal_record, write_body
from saga.journal.sealing import Keyring
from saga.journal.statements import Statements
from saga.journal.turns import write_turns
from saga.machine.events import Event
from saga.machine.state import RunState

__all__ = ["Append", "Hold", "build_append", "write_appends", "write_rows"]


class Hold(NamedTuple):
    """An owner's right to write: its id, its fence, and whether this record gives the run back."""

    owner: str
    fence: int
    release: bool


@dataclass(slots=True)
class Append:
    """One record of one run and all that changes with it.

    `seal` is the record's: the next one is chained to it. `hold` is the owner's, `None` for
    anybody else, who leaves owner and fence as they are.
    """

    run_id: str
    seq: int
    seal: str
    due: float | None
    hold: Hold | None
    head: Row
    record: Row
    new_actions: list[Row] = field(default_factory=list)
    actions: list[Row] = field(default_factory=list)
    new_cases: list[Row] = field(default_factory=list)
    cases: list[Row] = field(default_factory=list)
    turn: TurnChange | None = None


def build_append(
    keys: Keyring,
    state: RunState,
    events: Sequence[Event],
    commands: Sequence[str],
    *,
    seq: int,
    previous: str,
    at: float,
    due: float | None,
    hold: Hold | None = None,
) -> Append:
    """The append that records `events`, which have led to `state`.

    `seq` is the new version, `previous` the seal of the record before. Raises `RecordTooLarge`.
    """
    run_id, key_id = state.run_id, keys.key_id
    fence = 0 if hold is None else hold.fence
    body = write_body(
        run_id, seq, at=at, fence=fence, due=due, key_id=key_id, commands=commands, events=events
    )
    seal = seal_record(keys, previous, run_id, seq, body)
    append = Append(
        run_id=run_id,
        seq=seq,
        seal=seal,
        due=due,
        hold=hold,
        head=_head(keys, state, seq, due, seal, hold),
        record=(run_id, seq, "+".join(commands), at, body, key_id, seal),
    )
    _add_rows(append, state, events)
    return append


def _head(
    keys: Keyring, state: RunState, seq: int, due: float | None, seal: str, hold: Hold | None
) -> Row:
    """The parameters of the head's update: new values, then what must still be true."""
    return (
        state.phase,
        state.outcome,
        state.cause,
        seq,
        due,
        state.watch_until,
        state.ended_at,
        keys.key_id,
        seal_head(keys, state, seq, due, seal),
        state.run_id,
        seq - 1,
        *(() if hold is None else (hold.owner, hold.fence)),
    )


def _add_rows(append: Append, state: RunState, events: Sequence[Event]) -> None:
    for key, new in touched_actions(state, events).items():
        action = state.actions[key]
        if new:
            append.new_actions.append(action_row(state, action))
        else:
            append.actions.append((*action_values(action), key))
    if state.resource is not None:
        append.turn = turn_change(state, events)
    for case_id, new in touched_cases(state, events).items() if state.cases else ():
        row = case_row(state, state.cases[case_id])
        if new:
            append.new_cases.append(row)
        else:
            append.cases.append((row[7], row[8], *row[10:15], case_id))


def write_appends(cursor: Any, statements: Statements, appends: Sequence[Append]) -> None:
    """Write them all, in the transaction that the caller holds; `Conflict` if a race was lost.

    Of a batch that may be heard as late as at its commit, which then does not happen.
    """
    kept = [one.head for one in appends if one.hold is not None and not one.hold.release]
    released = [one.head for one in appends if one.hold is not None and one.hold.release]
    others = [one.head for one in appends if one.hold is None]
    statements.head.ensure(cursor, kept)
    statements.head_release.ensure(cursor, released)
    statements.head_by_anyone.ensure(cursor, others)
    write_rows(cursor, statements, appends)


def write_rows(cursor: Any, statements: Statements, appends: Sequence[Append]) -> None:
    """Everything but the heads."""
    statements.record.run(cursor, [append.record for append in appends])
    statements.new_action.run(cursor, [row for append in appends for row in append.new_actions])
    statements.action.run(cursor, [row for append in appends for row in append.actions])
    # What closes comes before what opens: one record may do both for an action (law 10).
    statements.case.run(cursor, [row for append in appends for row in append.cases])
    statements.new_case.run(cursor, [row for append in appends for row in append.new_cases])
    if turns := [append.turn for append in appends if append.turn is not None]:
        write_turns(cursor, statements, turns)
