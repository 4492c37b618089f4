"""The state after an event. Decides nothing: whatever was decided is in the event.

Replay is `evolve` folded over the journal; it calls nothing outside. The state is changed in
place, since its owner has the only copy and a copy per event is quadratic for a long run.
"""

from __future__ import annotations

from math import inf
from typing import assert_never

from saga.machine import settling, steps
from saga.machine.action_events import (
    Absent,
    Accepted,
    ApprovalAsked,
    Approved,
    DecisionRefused,
    Intended,
    Landed,
    LandedLate,
    NotSent,
    ProbeAsked,
    Probed,
    Refused,
    Renewed,
    Satisfied,
    SecondEffect,
    Sending,
    Skipped,
    Undone,
    Unknown,
    WaitBegun,
    Watched,
)
from saga.machine.budget_events import BudgetRaised, ProbeBegun, ProbeEnded
from saga.machine.events import (
    CancelRecorded,
    CaseClosed,
    CaseOpened,
    CasesOutdated,
    DeadlinePassed,
    Ended,
    Event,
    Parked,
    PathTaken,
    Signalled,
    Spread,
    Started,
    TurnAsked,
    TurnedBack,
    TurnTaken,
    WindingDown,
)
from saga.machine.forward import is_on_path
from saga.machine.items import note
from saga.machine.spending import tally
from saga.machine.state import UNDO, Action, Asked, Case, Received, RunState
from saga.machine.turns import turned
from saga.machine.wayback import begin_way_back, weigh

__all__ = ["evolve"]


def evolve(  # noqa: PLR0915  one case for each kind of event, the frequent ones first
    state: RunState, event: Event, at: float
) -> RunState:
    """Apply `event`, which was recorded at `at` (unix seconds), and return the same state."""
    match event:
        case Intended():
            _intended(state, event, at)
        case Sending():
            settling.sending(state.actions[event.key], event, at)
        case Landed():
            settling.landed(state, state.actions[event.key], event)
        case Refused():
            settling.refused(state, state.actions[event.key], event)
        case Started():
            _started(state, event, at)
        case WindingDown():
            state.phase, state.cause = "compensating", event.cause
            state.cause_step, state.cause_error = event.step, event.error
            state.cause_reason, state.cause_actor = event.reason, event.actor
            state.turn = None if state.lacks_turn else state.turn  # what is undone needs none
            begin_way_back(state, "", state.steps)
        case Ended():
            state.phase, state.outcome, state.ended_at = "ended", event.outcome, at
            state.turn = None
        case NotSent():
            settling.not_sent(state.actions[event.key], event)
        case Unknown():
            settling.unknown(state.actions[event.key], event)
        case Probed():
            settling.probed(state, state.actions[event.key], event)
        case Absent():
            settling.absent(state, state.actions[event.key], event)
        case Watched():
            settling.stop_watching(state, state.actions[event.key])
        case LandedLate():
            settling.landed_late(state, state.actions[event.key], event)
        case WaitBegun():
            action = state.actions[event.key]
            action.due = inf if event.until is None else event.until
        case ApprovalAsked():
            state.actions[event.key].approval = _asked(event)
        case Approved():
            asked = state.actions[event.key].approval
            assert asked is not None, event.key
            asked.given[event.actor] = event.reason
        case DecisionRefused():
            asked = state.actions[event.key].approval
            assert asked is not None, event.key
            asked.late.add(event.actor)
        case Satisfied():
            settling.satisfied(state, state.actions[event.key], event)
        case Skipped():
            settling.skipped(state, state.actions[event.key])
        case SecondEffect():
            action = state.actions[event.key]
            action.others.append(event.receipt)
            settling.touch(state, action)
        case ProbeAsked():
            action = state.actions[event.key]
            action.wish, action.probe_due = "probe", at
        case Renewed():
            settling.renewed(state.actions[event.key], event, at)
        case Accepted():
            state.accepted = True
            settling.settle(state, state.actions[event.key], "accepted")
        case Undone():
            settling.undone(state, state.actions[event.key], event)
        case CaseOpened():
            _case_opened(state, event, at)
        case CaseClosed():
            _case_closed(state, event, at)
        case CasesOutdated():
            for case in state.cases.values():
                case.version += case.state == "open"
        case TurnTaken() | Parked() | TurnAsked():
            turned(state, event, at)
        case Spread():
            steps.spread(state, event)
        case Signalled():
            state.signals[state.positions[event.step]] = Received(event.message, event.payload)
        case TurnedBack():
            steps.turned_back(state, event)
        case PathTaken():
            steps.path_taken(state, event)
        case ProbeBegun() | ProbeEnded() | BudgetRaised():
            pass  # only the budget counts them
        case CancelRecorded():
            state.cancel, state.cancelled_by = event.reason, event.actor
        case DeadlinePassed():
            state.deadline_passed = True
        case _:
            assert_never(event)
    if state.way_back or state.spreads or state.cases:
        _count(state, event)
    if state.spending is not None:
        tally(state, state.spending, event)
    return state


def _count(state: RunState, event: Event) -> None:
    """Keep the indices that are asked after every event, for the action that it is about."""
    key = getattr(event, "key", None)
    if isinstance(event, CaseClosed):
        key = state.cases[event.case].key
    if key is None:
        return
    action = state.actions[key]
    if state.cases and key in state.active:
        if action.waits_for_a_person:
            state.moving.pop(key, None)
        else:
            state.moving[key] = action
    if state.spreads:
        note(state, action)
    if state.way_back and not (isinstance(event, Sending) and action.direction == UNDO):
        weigh(state, action)  # an undo weighs the same from its intent until it has ended


def _started(state: RunState, event: Started, at: float) -> None:
    state.phase, state.started_at = "running", at
    state.run_id, state.instance, state.tenant = event.run_id, event.instance, event.tenant
    state.saga, state.saga_version = event.saga, event.saga_version
    state.definition, state.input = event.definition, event.input
    state.deadline_at, state.actor = event.deadline_at, event.actor
    if event.resource is not None:
        state.resource, state.turn, state.turn_at = event.resource, "waits", at
    state.ready = [step.index for step in state.steps if not step.after and is_on_path(state, step)]


def _intended(state: RunState, event: Intended, at: float) -> None:
    of = state.actions[event.of_key] if event.of_key is not None else None
    index = of.step if of is not None else state.positions[event.step]
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
        choice=of.choice if of is not None else _choice(state, index, event.step),
    )
    before = state.newest(index, event.item) if of is None else state.undo_of(of)
    if before is not None:
        before.failed_over = before.choice != action.choice
        action.crashes = 0 if before.failed_over else before.crashes
        before.superseded, before.wish = True, None
        state.rest(before)
        note(state, before)
    if of is None:
        progress = state.progress[index]
        progress.newest[event.item] = action
        if before is None and len(progress.newest) == progress.size:
            state.ready.remove(index)
        for group in state.steps[index].groups:
            state.begun.setdefault(group, at)
    else:
        of.undoing = event.key
        state.strays.pop(of.key, None)
    state.actions[event.key] = state.active[event.key] = state.moving[event.key] = action


def _choice(state: RunState, index: int, name: str) -> int:
    """Which of a step's alternatives is called so; 0 for the step itself."""
    names = [one.name for one in state.steps[index].instead]
    return names.index(name) + 1 if name in names else 0


def _asked(event: ApprovalAsked) -> Asked:
    return Asked(
        version=event.version,
        by=tuple(event.by),
        people=event.people,
        scope=event.scope,
        policy=event.policy,
        source=event.source,
        reference=event.reference,
        observation=event.observation,
        expires_at=event.expires_at,
    )


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
    if action.wish == "probe" and action.state != "unknown":
        action.wish = None  # the case was why it was asked for, and nothing else needs the answer
    state.open_cases -= 1
    if event.verdict is not None and case.kind == "late":
        action.answered_for = True
        settling.stop_watching(state, action)
    if event.verdict == "accept" and case.kind == "late":
        state.accepted = state.accepted or bool(action.others) or action.state == "landed"
