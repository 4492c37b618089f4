"""The state after an event. Decides nothing: whatever was decided is in the event.

Replay is `evolve` folded over the journal; it calls nothing outside. The state is changed in
place, since its owner has the only copy and a copy per event is quadratic for a long run.
"""

from __future__ import annotations

from typing import assert_never

from saga.machine.events import (
    Absent,
    Accepted,
    CancelRecorded,
    CaseClosed,
    CaseOpened,
    DeadlinePassed,
    Ended,
    Event,
    Intended,
    Landed,
    NotSent,
    ProbeAsked,
    Probed,
    Refused,
    Renewed,
    SecondEffect,
    Sending,
    Started,
    Undone,
    Unknown,
    WindingDown,
)
from saga.machine.state import FORWARD, UNDO, Action, Attempt, Case, RunState

__all__ = ["evolve"]


def evolve(state: RunState, event: Event, at: float) -> RunState:
    """Apply `event`, which was recorded at `at` (unix seconds), and return the same state."""
    match event:
        case Intended():
            _intended(state, event, at)
        case Sending():
            _sending(state.actions[event.key], event, at)
        case Landed():
            _landed(state, state.actions[event.key], event)
        case Refused():
            _refused(state, state.actions[event.key], event)
        case NotSent():
            _not_sent(state.actions[event.key], event)
        case Unknown():
            _unknown(state.actions[event.key], event)
        case Probed():
            _probed(state, state.actions[event.key], event)
        case Absent():
            _absent(state, state.actions[event.key], event)
        case SecondEffect():
            action = state.actions[event.key]
            action.others.append(event.receipt)
            _touch(state, action)
        case ProbeAsked():
            action = state.actions[event.key]
            action.wish, action.probe_due = "probe", at
        case Renewed():
            _renewed(state.actions[event.key], event, at)
        case Accepted():
            _settle(state, state.actions[event.key], "accepted")
        case Undone():
            _undone(state, state.actions[event.key], event)
        case CaseOpened():
            _case_opened(state, event, at)
        case CaseClosed():
            _case_closed(state, event, at)
        case Started():
            _started(state, event, at)
        case WindingDown():
            state.phase, state.cause = "compensating", event.cause
            state.cause_step, state.cause_error = event.step, event.error
        case CancelRecorded():
            state.cancel = event.reason
        case DeadlinePassed():
            state.deadline_passed = True
        case Ended():
            state.phase, state.outcome, state.ended_at = "ended", event.outcome, at
        case _:
            assert_never(event)
    return state


def _started(state: RunState, event: Started, at: float) -> None:
    state.phase, state.started_at = "running", at
    state.run_id, state.instance, state.tenant = event.run_id, event.instance, event.tenant
    state.saga, state.saga_version = event.saga, event.saga_version
    state.definition, state.input = event.definition, event.input
    state.deadline_at, state.actor = event.deadline_at, event.actor
    state.ready = [step.index for step in state.steps if not step.after]


def _intended(state: RunState, event: Intended, at: float) -> None:
    of = state.actions[event.of_key] if event.of_key is not None else None
    index = of.step if of is not None else _position(state, event.step)
    action = Action(
        key=event.key,
        step=index,
        item=event.item,
        direction=event.direction,
        generation=event.generation,
        effect=event.effect,
        effect_version=event.effect_version,
        target=event.target,
        digest=event.digest,
        args=event.args,
        of_key=event.of_key,
        undo=event.undo,
        undo_key=event.undo_key,
        deadline_at=event.deadline_at,
        intended_at=at,
    )
    column = state.forward if event.direction == FORWARD else state.undo
    before = column[index]
    if before is not None:
        before.superseded, before.wish = True, None
        state.active.pop(before.key, None)
    elif event.direction == FORWARD:
        state.ready.remove(index)
    column[index] = state.actions[event.key] = state.active[event.key] = action


def _position(state: RunState, name: str) -> int:
    """Where a step stands. The ready ones are few, and a forward intent is one of them."""
    for index in state.ready:
        if state.steps[index].name == name:
            return index
    return next(step.index for step in state.steps if step.name == name)


def _sending(action: Action, event: Sending, at: float) -> None:
    if action.attempts == 0:
        action.first_at = at
    if (action.open or action.again) and action.wish != "same":
        action.resends += 1
    action.attempts = event.attempt
    action.open[event.attempt] = Attempt(event.attempt, at, event.send_by, event.threaded)
    action.last_until = max(action.last_until, event.send_by)
    action.state, action.wish = "sending", None
    # Whatever was read before, this attempt can land after it.
    action.asked, action.last_answer, action.first_absent = False, "", None
    action.probes, action.probe_due = 0, 0.0


def _landed(state: RunState, action: Action, event: Landed) -> None:
    action.receipt, action.error = event.receipt, None
    if action.direction == FORWARD:
        _step_landed(state, action.step)
    _settle(state, action, "landed")


def _step_landed(state: RunState, index: int) -> None:
    state.landed += 1
    step = state.steps[index]
    state.past_pivot = state.past_pivot or step.irreversible
    for later in step.before:
        if state.forward[later] is None and all(
            (before := state.forward[i]) is not None and (i == index or before.state == "landed")
            for i in state.steps[later].after
        ):
            state.ready.append(later)


def _refused(state: RunState, action: Action, event: Refused) -> None:
    action.refusals += 1
    action.error = event.error
    if event.settles:
        action.open.clear()
    else:
        action.open.pop(event.attempt, None)
    if action.open:
        _still_open(action)
    else:
        _settle(state, action, "refused")


def _not_sent(action: Action, event: NotSent) -> None:
    action.open.pop(event.attempt, None)
    action.not_sent += 1
    action.due = event.due
    if not action.refusals:
        action.error = event.error
    if action.open:
        _still_open(action)
    elif action.refusals:
        action.state = "refused"  # by another attempt, and nothing is under way any more
    else:
        # Once proven absent it stays so: the rules of sending again go on from that proof.
        action.state = "absent" if action.again else "not_sent"


def _unknown(action: Action, event: Unknown) -> None:
    attempt = action.open.get(event.attempt)
    if attempt is not None:
        attempt.in_flight, attempt.running = False, event.running
        action.last_until = max(action.last_until, event.until)
    action.error, action.due = event.error, event.due
    action.conflict = action.conflict or event.conflict
    action.first_absent = None
    _still_open(action)


def _still_open(action: Action) -> None:
    """Some attempt is not settled: in flight, or unknown."""
    flying = any(attempt.in_flight for attempt in action.open.values())
    action.state = "sending" if flying else "unknown"


def _probed(state: RunState, action: Action, event: Probed) -> None:
    action.asked, action.last_answer = True, event.answer
    action.probe_due = event.due
    if action.wish == "probe":
        action.wish = None
    if event.answer == "in_progress":
        action.first_absent = None
    if event.counted:
        if action.first_absent is None:
            action.first_absent = event.started
    else:
        action.probes += 1
    _touch(state, action)


def _absent(state: RunState, action: Action, event: Absent) -> None:
    # Reading again, since the first proof grew too old, has its limit too.
    action.probes = action.probes + 1 if action.state == "absent" else 0
    action.first_at = max(action.first_at, event.read_at)
    action.undone = event.source == "undo"
    _settle(state, action, "refused" if action.refusals else "absent")
    action.again = event.again
    if event.again == "new" and action.state == "absent":
        action.wish = "new"


def _renewed(action: Action, event: Renewed, at: float) -> None:
    action.not_sent = action.resends = action.probes = 0
    action.wish, action.due, action.probe_due = event.again, at, at
    action.refusals, action.conflict, action.deadline_at = 0, False, event.deadline_at
    action.first_at = max(action.first_at, event.read_at)


def _undone(state: RunState, action: Action, event: Undone) -> None:
    if action.direction == UNDO:
        action.receipt, action.error = {"evidence": event.evidence}, None
        _settle(state, action, "landed")
    else:
        action.undone = True
        _settle(state, action, "absent")


def _settle(state: RunState, action: Action, name: str) -> None:
    """Every attempt is accounted for. Only what landed or was accepted needs no more looking at."""
    action.state, action.wish, action.first_absent = name, None, None
    action.open.clear()
    if name in ("landed", "accepted"):
        state.active.pop(action.key, None)


def _touch(state: RunState, action: Action) -> None:
    """What is shown of an open case has changed: a verdict must name the new version."""
    if action.case is not None:
        state.cases[action.case].version += 1


def _case_opened(state: RunState, event: CaseOpened, at: float) -> None:
    action = state.actions[event.key]
    action.case = event.case
    state.open_cases += 1
    state.cases[event.case] = Case(
        id=event.case,
        key=event.key,
        kind=event.case_kind,
        text=event.text,
        error=event.error,
        opened_at=at,
    )


def _case_closed(state: RunState, event: CaseClosed, at: float) -> None:
    case = state.cases[event.case]
    case.state, case.closed_at, case.verdict = "closed", at, event.verdict
    case.actor, case.reason, case.evidence = event.actor, event.reason, event.evidence
    case.version += 1
    action = state.actions[case.key]
    action.case = None
    state.open_cases -= 1
    if event.verdict is not None and case.kind == "late":
        action.answered_for = True
    if event.verdict == "accept":
        state.accepted = True
