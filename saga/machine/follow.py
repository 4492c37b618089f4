"""What follows from a result without anybody asking: it is committed together with the result.

`consequences` gives the next batch of events for a state, or nothing when all has been said. Its
caller applies them and asks again.
"""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Absent, Accepted, Skipped
from saga.machine.approving import expired_approvals
from saga.machine.budgets import awaits_raise, budget_text, exceeded
from saga.machine.dead_ends import dead_end, spent
from saga.machine.events import (
    CaseClosed,
    CaseOpened,
    DeadlinePassed,
    Ended,
    Event,
    WindingDown,
)
from saga.machine.facts import Error
from saga.machine.forward import stopped, unfinished, winds_down
from saga.machine.moves import Next
from saga.machine.savepoints import path_taken, turned_back
from saga.machine.spreading import spread
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.machine.turns import asked_again
from saga.machine.unwinding import settled
from saga.machine.waiting import begun_waits, ended_waits
from saga.machine.watching import last_reading, watch_until
from saga.machine.ways import contract_of, next_move, way_out

__all__ = ["case_for", "consequences", "settled_by_evidence", "winding_down"]


def consequences(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """The events that follow from `state` at `now`; empty when nothing does."""
    if state.phase == "running":
        forward = _going_forward(spec, state, now) or _dead_ends(spec, state, now)
        return forward or (asked_again(state) if state.turn else [])
    if state.phase == "compensating":
        return _dead_ends(spec, state, now) or _winding_down(spec, state, now)
    return _dead_ends(spec, state, now) if state.phase else []


def _going_forward(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    if spec.budget and awaits_raise(state) and (room := _room_again(spec, state, now)):
        return room
    if spec.spreads and (lists := spread(spec, state, now)):
        return lists
    if (spec.waits or spec.asks or spec.skips) and (over := _over(spec, state, now)):
        return over
    if state.done == state.needed:
        return [Ended(outcome="completed")]
    if spec.returns and (way := _at_savepoints(spec, state, now)):
        return way
    if not state.past_pivot:
        late = state.deadline_at is not None and now >= state.deadline_at
        if late and not state.deadline_passed:
            return [DeadlinePassed()]
        if (end := _way_down(spec, state, now)) is not None:
            return [end]
    return begun_waits(spec, state, now) if spec.waits else []


def _at_savepoints(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """A part of the run is undone, and then done another way."""
    if not stopped(state) and (turn := turned_back(spec, state, now)):
        return turn
    events = _taken_back(spec, state, now) + _moot(spec, state, now) if state.way_back else []
    return events or path_taken(spec, state)


def _room_again(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """The case about the budget is answered: what it is about may go on, or has ended otherwise."""
    assert state.spending is not None
    case = state.cases[state.spending.case or ""]
    action = state.actions[case.key]
    move = way_out(spec, state, action, now)
    if move is None or (move.next is Next.GIVE_UP and move.why == "budget"):
        return []
    if move.next in (Next.SEND, Next.PROBE, Next.RENEW) and exceeded(spec, state, action):
        return []  # it may be asked about once more, and still not be sent
    return [settled_by_evidence(case.id, "the budget does not hold this up any more")]


def _over(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """Steps that are done with, though nothing has been called: the time has come."""
    return (
        ended_waits(spec, state, now) or expired_approvals(state, now) or _skips(spec, state, now)
    )


def _skips(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """Optional steps that the run does without from now on."""
    return [
        Skipped(key=action.key, reason=spent(action, contract_of(spec, action)))
        for action in state.moving.values()
        if step_of(spec.steps, action).optional
        and (move := next_move(spec, state, action, now)) is not None
        and move.next is Next.SKIP
    ]


def _way_down(spec: SagaSpec, state: RunState, now: float) -> WindingDown | None:
    """Whether a run that goes forward has to wind down, and why."""
    failed: tuple[Action, str] | None = None
    for action in state.moving.values():
        if action.direction != FORWARD or action.state in ("sending", "unknown"):
            continue  # under way; and the undo of what landed late goes its own way
        move = next_move(spec, state, action, now)
        if move is not None and move.next is Next.FAIL:
            failed = action, move.why
            break
    if failed is None and state.cancel is None and not (state.deadline_passed or spec.limits):
        return None  # most of the time
    busy = [
        step_of(spec.steps, action)
        for action in state.active.values()
        if action.direction == FORWARD and action.state in ("sending", "unknown")
    ]
    if any(step.pivot for step in busy):
        return None  # first it must be known whether there is a way back
    if failed is not None:
        return winding_down(spec, failed[1], failed[0])
    if state.cancel is not None:
        return winding_down(spec, "cancelled", None, state.cancel, state.cancelled_by)
    if state.deadline_passed and not busy:
        return winding_down(spec, "deadline", _last_failing(state))
    return _out_of_time(spec, state, now) if spec.limits else None


def _out_of_time(spec: SagaSpec, state: RunState, now: float) -> WindingDown | None:
    """A sub-saga is over its own deadline, and nothing of it is under way any more."""
    for group, limit in spec.limits:
        if group not in state.begun or now < state.begun[group] + limit:
            continue
        step = unfinished(spec, state, group)
        moving = any(
            group in step_of(spec.steps, action).groups and action.state in ("sending", "unknown")
            for action in state.active.values()
        )
        if step is not None and not moving:
            error: Error = {
                "type": "OutOfTime",
                "text": f"{group} is not done within {limit:g} s",
                "leaves": [],
            }
            reason = "the deadline of the sub-saga has passed"
            return WindingDown(
                cause="deadline", step=step.name, error=error, reason=reason, actor=None
            )
    return None


def winding_down(
    spec: SagaSpec, cause: str, action: Action | None, reason: str = "", actor: str | None = None
) -> WindingDown:
    """The winding down of a run, with the step and error that caused it where there is one.

    `reason` is what `actor` has said, where a person is the cause; else the action tells.
    """
    if action is None:
        return WindingDown(cause=cause, step=None, error=None, reason=reason, actor=actor)
    step, contract = step_of(spec.steps, action), contract_of(spec, action)
    if cause in ("attempts", "deadline"):
        reason = spent(action, contract)
    return WindingDown(cause=cause, step=step.name, error=action.error, reason=reason, actor=actor)


def _last_failing(state: RunState) -> Action | None:
    return next((a for a in state.active.values() if a.error is not None), None)


def _dead_ends(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """A case for every action that no machine can settle."""
    opened: list[Event] = []
    for action in state.moving.values():
        if action.state == "sending":
            continue  # most of the time this is all there is
        move = next_move(spec, state, action, now)
        if move is not None and move.next is Next.GIVE_UP:
            if move.why == "budget" and any(_asks_for_more(one) for one in opened):
                continue  # one case for all that it holds up
            opened.append(case_for(spec, state, action, move.why, len(opened)))
    return opened + _unanswered(spec, state, now, opened) if state.watched else opened


def _asks_for_more(event: Event) -> bool:
    return isinstance(event, CaseOpened) and event.case_kind == "budget"


def _unanswered(spec: SagaSpec, state: RunState, now: float, opened: list[Event]) -> list[Event]:
    """A case for every straggler that no provider speaks of, beside those that are `opened`."""
    found: list[Event] = []
    given_up = {case.key for case in opened if isinstance(case, CaseOpened)}
    for action in state.watched.values():
        move = None if action.key in given_up else last_reading(spec, action, now)
        if move is not None and move.next is Next.GIVE_UP:
            count = len(opened) + len(found)
            found.append(case_for(spec, state, action, move.why, count))
    return found


def case_for(
    spec: SagaSpec, state: RunState, action: Action, kind: str, offset: int = 0
) -> CaseOpened:
    """A case for `action`. Ids count up within a run, so that replay gives the same ones."""
    text = (
        budget_text(spec, state, action)
        if kind == "budget"
        else dead_end(kind, step_of(spec.steps, action), action, contract_of(spec, action))
    )
    return CaseOpened(
        case=f"{state.run_id}/{len(state.cases) + 1 + offset}",
        key=action.key,
        case_kind=kind,
        text=text,
        error=action.error,
    )


def settled_by_evidence(case: str, reason: str) -> CaseClosed:
    """A case that needs no verdict any more."""
    return CaseClosed(
        case=case, verdict=None, actor=None, reason=reason, evidence=None, looked_at=None
    )


def _winding_down(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    events = _taken_back(spec, state, now) + _beyond_undo(spec, state) + _moot(spec, state, now)
    if events or state.open_cases or not settled(state):
        return events
    return [Ended(outcome="settled" if state.accepted else "compensated")]


def _taken_back(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """What was undone while unknown is settled by its undo, whatever it was."""
    events: list[Event] = []
    for action in state.moving.values():
        undo = state.undo_of(action) if action.state == "unknown" else None
        if undo is None:
            continue
        if undo.state == "landed":
            watch = watch_until(spec, action)
            absent = Absent(key=action.key, source="undo", read_at=now, again="no", watch=watch)
            events.append(absent)
        elif undo.state == "accepted":
            events.append(Accepted(key=action.key))
    return events


def _beyond_undo(spec: SagaSpec, state: RunState) -> list[Event]:
    """An irreversible effect in a run that is being undone: a person must answer for it."""
    if not state.past_pivot:
        return []
    stranded = [
        action
        for step in spec.steps
        if step.irreversible or any(one.irreversible for one in step.instead)
        for action in state.progress[step.index].newest.values()
        if action.state == "landed"
        and step_of(spec.steps, action).irreversible
        and action.case is None
        and not action.answered_for
    ]
    return [case_for(spec, state, action, "late", i) for i, action in enumerate(stranded)]


def _moot(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """Cases that winding down has answered: it is not sent again, or there is a way now."""
    events: list[Event] = []
    for case in state.cases.values() if state.open_cases else ():
        action = state.actions[case.key]
        undone = winds_down(state, step_of(spec.steps, action))
        if case.state != "open" or action.direction != FORWARD or not undone:
            continue
        absent = action.state == "absent"
        if case.kind == "budget":
            reason = "the run is being undone, and no budget holds that up"
            events.append(settled_by_evidence(case.id, reason))
        elif case.kind == "exhausted" or (case.kind == "crashed" and absent):
            reason = "the run is being undone; this did not happen and will not be sent again"
            events.append(settled_by_evidence(case.id, reason))
        elif case.kind in ("unknown", "crashed"):
            move = way_out(spec, state, action, now)
            if move is not None and move.next in (Next.BLIND, Next.AWAIT):
                reason = "the run is being undone, and the undo of this needs no receipt"
                events.append(settled_by_evidence(case.id, reason))
    return events
