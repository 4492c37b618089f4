"""What must hold after every transition, checked on the state alone and by looking at all of it.

The machine keeps indices and flags so that it need not look; these functions do not trust them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Intended, Sending
from saga.machine.commands import Command
from saga.machine.decide import decide
from saga.machine.events import CaseClosed, CaseOpened, Event, WindingDown
from saga.machine.evolve import evolve
from saga.machine.follow import consequences
from saga.machine.forward import is_on_path
from saga.machine.plan import AskNow, Plan, plan
from saga.machine.settlement import settlement
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.machine.ways import contract_of
from tests.machine import budget_laws
from tests.machine.indices import check_indices
from tests.machine.item_laws import is_held, item_begins, undo_of_item
from tests.machine.orders import in_turn, order_for
from tests.machine.verdict_laws import came_true, shown_verdicts, still_meant, what_was_said
from tests.machine.world import LawBroken

__all__ = ["check"]


def check(
    spec: SagaSpec, before: RunState, command: Command, events: Sequence[Event], after: RunState
) -> Plan:
    """Raise `LawBroken` unless `events` lead lawfully from `before` to `after`.

    `before` is used up. Returns the plan for `after`.
    """
    at = command.at
    end = before.outcome, before.cause, before.ended_at
    was_over = before.phase == "ended"
    calls = budget_laws.calls_counted(before)
    shown = shown_verdicts(spec, before, at)
    said = what_was_said(spec, before, command)
    for event in events:
        _event(spec, before, event, command)
    if before != after:
        raise LawBroken("14", "the events do not lead to the state")
    if was_over and (after.outcome, after.cause, after.ended_at) != end:
        raise LawBroken("7", "an ended run has changed")
    if after.phase == "ended" and not was_over:
        _end(spec, after)
    if more := consequences(spec, after, at):
        raise LawBroken("13", f"{more} was not committed with it")
    still_meant(shown, shown_verdicts(spec, after, at))
    if any(isinstance(event, CaseClosed) for event in events):
        came_true(said, command, after)
    check_indices(after)
    planned = plan(spec, after, at)
    budget_laws.counted(calls, events, after, planned)
    _never_stuck(spec, after, planned, at)
    return planned


def _event(spec: SagaSpec, before: RunState, event: Event, command: Command) -> None:
    """Whether one event may follow; then it is applied."""
    if before.spending is not None:
        budget_laws.within_budget(spec, before, event, command)
    if isinstance(event, Intended):
        _intent(spec, before, event)
    elif isinstance(event, Sending):
        _sending(spec, before, event, command.at)
    elif isinstance(event, WindingDown):
        _winding(spec, before, event)
    elif isinstance(event, CaseOpened) and before.actions[event.key].case is not None:
        raise LawBroken("10", f"a second open case of {event.key}")
    evolve(before, event, command.at)


# Deadlines of one branch: as when it is refused, the others settle while the run is undone.
_BRANCHES = ("Expired", "ApprovalExpired", "NoMoment", "OutOfTime")


def _winding(spec: SagaSpec, state: RunState, event: WindingDown) -> None:
    if state.phase != "running":
        raise LawBroken("7", "wound down twice: the first cause is lost")
    if event.cause == "person":
        return
    if _no_way_back(spec, state):
        raise LawBroken("8", "wound down past the point of no return")
    for action in (a for a in state.active.values() if a.direction == FORWARD):
        if action.state in ("sending", "unknown"):
            if event.cause == "deadline" and (event.error or {}).get("type") not in _BRANCHES:
                raise LawBroken("8", f"the deadline does not wait for {action.key}")
            if step_of(spec.steps, action).pivot:
                raise LawBroken("8", f"wound down while {action.key} may have landed for good")


def _no_way_back(spec: SagaSpec, state: RunState) -> bool:
    """An irreversible effect has landed, or a pivot as a whole."""
    for step, progress in zip(spec.steps, state.progress, strict=True):
        states = [one.state for one in progress.newest.values()]
        whole = len(states) == progress.size and set(states) <= {"landed", "skipped"}
        landed = [one for one in progress.newest.values() if one.state == "landed"]
        if any(step_of(spec.steps, one).irreversible for one in landed):
            return True
        if step.declared_pivot and landed and whole:
            return True
    return False


def _intent(spec: SagaSpec, state: RunState, event: Intended) -> None:
    if event.key in state.actions:
        raise LawBroken("2", f"the key {event.key} is used twice")
    before = state.newest(spec.positions[event.step], event.item)
    if event.of_key is None and before is not None and before.state == "refused":
        declined = before.approval is not None and not before.attempts
        if declined and event.generation == 1:
            raise LawBroken("12", f"{event.key} is done instead of what people declined")
    if event.item is not None and event.generation == 1:
        item_begins(spec, state, event) if event.of_key is None else undo_of_item(
            spec, state, event
        )
    if event.of_key is None or state.actions[event.of_key].late:
        return  # the undo of what landed late waits for nobody
    seen, behind = set[int](), list(spec.steps[state.actions[event.of_key].step].before)
    while behind:
        later = behind.pop()
        for follower in state.progress[later].newest.values():
            if follower.state in ("sending", "unknown"):
                raise LawBroken("9", f"{event.key} is begun while {follower.key} is unknown")
        if later not in seen:
            seen.add(later)
            behind += spec.steps[later].before


def _approved(action: Action, at: float) -> None:
    asked = action.approval
    if asked is None or len(asked.given) < asked.people or not set(asked.given) <= set(asked.by):
        raise LawBroken("12", f"{action.key} is sent without its approval")
    if action.attempts == 0 and at >= asked.expires_at:
        raise LawBroken("12", f"{action.key} is sent after its approval has expired")


def _sending(spec: SagaSpec, state: RunState, event: Sending, at: float) -> None:
    action = state.actions[event.key]
    contract = contract_of(spec, action)
    if action.direction == FORWARD and step_of(spec.steps, action).approval is not None:
        _approved(action, at)
    if event.attempt != action.attempts + 1 or event.send_by != at + contract.timeout:
        raise LawBroken("1", f"{event} is not the next one in time")
    if action.direction == FORWARD and state.turn in ("waits", "parked"):
        raise LawBroken("1", f"{event.key} is sent without the turn of its resource")
    if action.open and not contract.provider.honours_keys:
        raise LawBroken("2", f"{event.key} is unknown and sent again, though keys mean nothing")
    if action.direction != FORWARD:
        return
    if state.phase == "running" and is_held(spec, state, action):
        raise LawBroken("each", f"{event.key} is sent while another item is unknown")
    if action.open:
        if state.phase == "compensating" and step_of(spec.steps, action).irreversible:
            raise LawBroken("8", f"{event.key} is sent again, and could not be undone")
        return
    no_way_back = _no_way_back(spec, state)
    ends = [state.begun[g] + limit for g, limit in spec.limits if g in state.begun]
    late = state.deadline_at is not None and at >= state.deadline_at
    late = late or (bool(step_of(spec.steps, action).groups) and at >= min(ends, default=inf))
    if state.phase != "running" or not (no_way_back or (state.cancel is None and not late)):
        raise LawBroken("9", f"{event.key} goes forward in a run that is stopped")


def _settled(spec: SagaSpec, after: RunState) -> None:
    """The outcome is what the settlement says line by line."""
    lines = settlement(spec, after)
    steps = {one.name: one for step in spec.steps for one in (step, *step.instead)}
    stands = [
        line for line in lines if line.fate == "landed" and steps[line.step].undo != "nothing"
    ]
    open_ones = [line for line in lines if line.fate == "open"]
    if after.outcome == "completed":
        taken = [step for step in spec.steps if is_on_path(after, step)]
        missing = {
            step.name
            for step in taken
            if not (step.optional or step.wait) and after.progress[step.index].size
        }
        done = {line.step for line in lines if line.fate in ("landed", "satisfied")}
        missing -= {spec.steps[spec.positions[name]].name for name in done}
        if missing:
            raise LawBroken("8", f"completed, and the settlement lacks {missing}")
        return
    if stands or open_ones:
        raise LawBroken("8", f"ended {after.outcome}, and {[*stands, *open_ones]}")
    accepted = [line for line in lines if line.fate == "accepted"]
    if bool(accepted) != (after.outcome == "settled"):
        raise LawBroken("8", f"ended {after.outcome}, accepted: {accepted}")
    if any(line.by is None for line in accepted):
        raise LawBroken("8", f"nobody has accepted {accepted}")


def _end(spec: SagaSpec, after: RunState) -> None:
    _settled(spec, after)
    landed = [a for a in after.actions.values() if a.direction == FORWARD and a.state == "landed"]
    if after.outcome == "completed":
        _completed(after, landed)
        return
    if after.outcome != ("settled" if after.accepted else "compensated"):
        raise LawBroken("8", f"ended {after.outcome}, accepted={after.accepted}")
    for action in after.actions.values():
        if action.state in ("sending", "unknown") and not action.superseded:
            raise LawBroken("8", f"ended while {action.key} is {action.state}")
    for action in landed:  # what is late too
        if _stands(after, action):
            raise LawBroken("8", f"ended while {action.key} stands")


def _may_wait(spec: SagaSpec, action: Action) -> bool:
    """An intent without a sending: nothing is called, people decide first, or another item does."""
    step = step_of(spec.steps, action)
    targeted = step.each is not None and step.each.on_unknown == "hold_target"
    return step.wait is not None or action.approval is not None or targeted or bool(spec.budget)


def _completed(after: RunState, landed: list[Action]) -> None:
    skipped = [a for a in after.actions.values() if a.state == "skipped"]
    if not all(step_of(after.steps, a).optional or a.evidence is not None for a in skipped):
        raise LawBroken("3", "a required step was skipped")
    abandoned = [a for a in landed if not (a.late or is_on_path(after, after.steps[a.step]))]
    if any(a.undoing and not a.late and a not in abandoned for a in landed):
        raise LawBroken("8", "completed, though what landed is being undone")
    if any(_stands(after, a) for a in abandoned):
        raise LawBroken("8", f"the run has gone another way, and {abandoned} stands")
    taken = {step.index for step in after.steps if is_on_path(after, step)}
    done = [a for a in (*landed, *skipped) if not a.late and a.step in taken]
    if len(done) != sum(after.progress[index].size for index in taken):
        raise LawBroken("3", "completed, but a step did not land")


def _stands(state: RunState, action: Action) -> bool:
    """It has landed and was not taken back, though it could be."""
    undo = state.undo_of(action)
    done = undo is not None and undo.state in ("landed", "accepted")
    return not (done or step_of(state.steps, action).undo == "nothing" or action.answered_for)


def _never_stuck(spec: SagaSpec, state: RunState, planned: Plan, at: float) -> None:
    if state.rests:
        if planned != Plan((), None):
            raise LawBroken("7", f"an ended run goes on: {planned}")
        return
    in_line = state.turn == "waits"  # whoever ends or parks another run moves it
    if not (planned.todo or planned.due is not None or state.open_cases or in_line):
        raise LawBroken("4", "nothing due, no case, not at its end")
    waits = [a for a in state.active.values() if a.state == "intended"]
    if any(not _may_wait(spec, a) for a in waits):
        raise LawBroken("1", "an intent without its sending")
    flying = any(a.state == "sending" for a in state.active.values())
    if not planned.todo and planned.due is not None and planned.due <= at and not flying:
        raise LawBroken("4", "due, and nothing to do: a busy loop")
    for todo in in_turn(planned):
        if isinstance(todo, AskNow):
            continue
        answer = decide(spec, state, order_for(state, todo, at))
        if not isinstance(answer, tuple):
            raise LawBroken("4", f"{todo} is planned, and turned down: {answer}")
