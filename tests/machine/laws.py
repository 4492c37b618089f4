"""What must hold after every transition, checked on the state alone and by looking at all of it.

The machine keeps indices and flags so that it need not look; these functions do not trust them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from math import inf
from operator import attrgetter

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Intended, Sending
from saga.machine.commands import Command
from saga.machine.decide import decide
from saga.machine.events import CaseOpened, Event, WindingDown
from saga.machine.evolve import evolve
from saga.machine.follow import consequences
from saga.machine.plan import AskNow, Plan, plan
from saga.machine.progress import Progress, WayBack
from saga.machine.settlement import settlement
from saga.machine.state import FORWARD, Action, Attempt, Case, RunState
from saga.machine.ways import contract_of
from tests.machine.orders import in_turn, order_for
from tests.machine.world import LawBroken

__all__ = ["check", "fork"]

_of_action = attrgetter(*(one.name for one in fields(Action)))
_of_attempt = attrgetter(*(one.name for one in fields(Attempt)))
_of_case = attrgetter(*(one.name for one in fields(Case)))
_of_run = attrgetter(*(one.name for one in fields(RunState)))


def fork(state: RunState) -> RunState:
    """A copy that shares nothing that changes."""
    twin = RunState(*_of_run(state))
    twin.actions = {key: _fork_action(action) for key, action in state.actions.items()}
    twin.progress = [_fork_progress(one, twin.actions) for one in state.progress]
    twin.way_back = [_fork_way_back(one, twin.actions) for one in state.way_back]
    twin.frontier = set(state.frontier)
    twin.watched = {key: twin.actions[key] for key in state.watched}
    twin.strays = {key: twin.actions[key] for key in state.strays}
    twin.active = {key: twin.actions[key] for key in state.active}
    twin.begun = dict(state.begun)
    twin.signals = dict(state.signals)
    twin.ready = list(state.ready)
    twin.cases = {key: Case(*_of_case(case)) for key, case in state.cases.items()}
    return twin


def _fork_progress(progress: Progress, actions: dict[str, Action]) -> Progress:
    twin = replace(progress)
    twin.newest = {item: actions[one.key] for item, one in progress.newest.items()}
    if progress.items is not None:
        unknown = {target: set(keys) for target, keys in progress.items.unknown.items()}
        twin.items = replace(progress.items, unknown=unknown, aside=set(progress.items.aside))
    return twin


def _fork_way_back(way_back: WayBack, actions: dict[str, Action]) -> WayBack:
    to_undo = {item: actions[one.key] for item, one in way_back.to_undo.items()}
    return replace(way_back, to_undo=to_undo, undoing=set(way_back.undoing))


def _fork_action(action: Action) -> Action:
    twin = Action(*_of_action(action))
    twin.open = {number: Attempt(*_of_attempt(one)) for number, one in action.open.items()}
    twin.others = list(action.others)
    if action.approval is not None:
        twin.approval = replace(
            action.approval, given=dict(action.approval.given), late=set(action.approval.late)
        )
    return twin


def check(
    spec: SagaSpec, before: RunState, command: Command, events: Sequence[Event], after: RunState
) -> Plan:
    """Raise `LawBroken` unless `events` lead lawfully from `before` to `after`.

    `before` is used up. Returns the plan for `after`.
    """
    at = command.at
    end = before.outcome, before.cause, before.ended_at
    was_over = before.phase == "ended"
    for event in events:
        if isinstance(event, Intended):
            _intent(spec, before, event)
        elif isinstance(event, Sending):
            _sending(spec, before, event, at)
        elif isinstance(event, WindingDown):
            _turn(spec, before, event)
        elif isinstance(event, CaseOpened) and before.actions[event.key].case is not None:
            raise LawBroken("10", f"a second open case of {event.key}")
        evolve(before, event, at)
    if before != after:
        raise LawBroken("14", "the events do not lead to the state")
    if was_over and (after.outcome, after.cause, after.ended_at) != end:
        raise LawBroken("7", "an ended run has changed")
    if after.phase == "ended" and not was_over:
        _end(spec, after)
    if more := consequences(spec, after, at):
        raise LawBroken("13", f"{more} was not committed with it")
    _indices(after)
    planned = plan(spec, after, at)
    _never_stuck(spec, after, planned, at)
    return planned


# Deadlines of one branch: as when it is refused, the others settle while the run is undone.
_BRANCHES = ("Expired", "ApprovalExpired", "NoMoment", "OutOfTime")


def _turn(spec: SagaSpec, state: RunState, event: WindingDown) -> None:
    if state.phase != "running":
        raise LawBroken("7", "turned round twice: the first cause is lost")
    if event.cause == "person":
        return
    if _no_way_back(spec, state):
        raise LawBroken("8", "turned round past the point of no return")
    for action in (a for a in state.active.values() if a.direction == FORWARD):
        if action.state in ("sending", "unknown"):
            if event.cause == "deadline" and (event.error or {}).get("type") not in _BRANCHES:
                raise LawBroken("8", f"the deadline does not wait for {action.key}")
            if spec.steps[action.step].pivot:
                raise LawBroken("8", f"turned round while {action.key} may have landed for good")


def _no_way_back(spec: SagaSpec, state: RunState) -> bool:
    """An irreversible effect has landed, or a pivot as a whole."""
    for step, progress in zip(spec.steps, state.progress, strict=True):
        states = [one.state for one in progress.newest.values()]
        whole = len(states) == progress.size and set(states) <= {"landed", "skipped"}
        if step.pivot and "landed" in states and (step.irreversible or whole):
            return True
    return False


def _intent(spec: SagaSpec, state: RunState, event: Intended) -> None:
    if event.key in state.actions:
        raise LawBroken("2", f"the key {event.key} is used twice")
    if event.of_key is None and event.item is not None and event.generation == 1:
        _item(spec, state, event)
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


def _item(spec: SagaSpec, state: RunState, event: Intended) -> None:
    """An item begins within the limits of its `Each`."""
    step = spec.step(event.step)
    each, progress = step.each, state.progress[step.index]
    assert each is not None, event
    assert progress.items is not None, event
    states = {item: one.state for item, one in progress.newest.items()}
    if each.on_unknown == "hold_all" and "unknown" in states.values():
        raise LawBroken("each", f"{event.key} begins while another item is unknown")
    moving = [state for state in states.values() if state in ("sending", "not_sent", "intended")]
    if len(moving) >= each.parallel:
        raise LawBroken("each", f"{event.key} is one too many at once")
    batch = (each.batch or progress.size) or 1
    first = progress.items.positions[event.item or ""] // batch * batch
    before = progress.items.order[:first]
    if any(states.get(item) not in ("landed", "skipped") for item in before):
        raise LawBroken("each", f"{event.key} begins before the batch before it is done")


def _held(spec: SagaSpec, state: RunState, action: Action) -> bool:
    """An unknown item of the same `Each` keeps this one from being sent."""
    each = spec.steps[action.step].each
    if each is None or each.on_unknown == "hold_item" or action.state == "unknown":
        return False
    return any(
        one.state == "unknown" and (each.on_unknown == "hold_all" or one.target == action.target)
        for one in state.progress[action.step].newest.values()
    )


def _approved(action: Action, at: float) -> None:
    asked = action.approval
    if asked is None or len(asked.given) < asked.people or not set(asked.given) <= set(asked.by):
        raise LawBroken("12", f"{action.key} is sent without its approval")
    if action.attempts == 0 and at >= asked.expires_at:
        raise LawBroken("12", f"{action.key} is sent after its approval has expired")


def _sending(spec: SagaSpec, state: RunState, event: Sending, at: float) -> None:
    action = state.actions[event.key]
    contract = contract_of(spec, action)
    if action.direction == FORWARD and spec.steps[action.step].approval is not None:
        _approved(action, at)
    if event.attempt != action.attempts + 1 or event.send_by != at + contract.timeout:
        raise LawBroken("1", f"{event} is not the next one in time")
    if action.direction == FORWARD and state.turn in ("waits", "parked"):
        raise LawBroken("1", f"{event.key} is sent without the turn of its resource")
    if action.open and not contract.provider.honours_keys:
        raise LawBroken("2", f"{event.key} is unknown and sent again, though keys mean nothing")
    if action.direction != FORWARD:
        return
    if state.phase == "running" and _held(spec, state, action):
        raise LawBroken("each", f"{event.key} is sent while another item is unknown")
    if action.open:
        if state.phase == "compensating" and spec.steps[action.step].irreversible:
            raise LawBroken("8", f"{event.key} is sent again, and could not be undone")
        return
    no_way_back = _no_way_back(spec, state)
    ends = [state.begun[g] + limit for g, limit in spec.limits if g in state.begun]
    late = state.deadline_at is not None and at >= state.deadline_at
    late = late or (bool(spec.steps[action.step].groups) and at >= min(ends, default=inf))
    if state.phase != "running" or not (no_way_back or (state.cancel is None and not late)):
        raise LawBroken("9", f"{event.key} goes forward in a run that is stopped")


def _settled(spec: SagaSpec, after: RunState) -> None:
    """The outcome is what the settlement says line by line."""
    lines = settlement(spec, after)
    steps = {step.name: step for step in spec.steps}
    stands = [
        line for line in lines if line.fate == "landed" and steps[line.step].undo != "nothing"
    ]
    open_ones = [line for line in lines if line.fate == "open"]
    if after.outcome == "completed":
        missing = {step.name for step in spec.steps if not (step.optional or step.wait)}
        missing -= {line.step for line in lines if line.fate in ("landed", "satisfied")}
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
        skipped = [a for a in after.actions.values() if a.state == "skipped"]
        if not all(spec.steps[a.step].optional or a.evidence is not None for a in skipped):
            raise LawBroken("3", "a required step was skipped")
        done = len([a for a in landed if not a.late]) + len(skipped)
        if done != sum(progress.size for progress in after.progress):
            raise LawBroken("3", "completed, but a step did not land")
        return
    if after.outcome != ("settled" if after.accepted else "compensated"):
        raise LawBroken("8", f"ended {after.outcome}, accepted={after.accepted}")
    for action in after.actions.values():
        if action.state in ("sending", "unknown") and not action.superseded:
            raise LawBroken("8", f"ended while {action.key} is {action.state}")
    for action in landed:  # what is late too
        undo = after.undo_of(action)
        done = undo is not None and undo.state in ("landed", "accepted")
        free = spec.steps[action.step].undo == "nothing" or action.answered_for
        if not done and not free:
            raise LawBroken("8", f"ended while {action.key} stands")


def _indices(state: RunState) -> None:
    forward = [a for a in state.actions.values() if a.direction == FORWARD]
    places = {(a.step, a.item) for a in forward}
    for step, item in places | {(step.index, None) for step in state.steps}:
        line = [a for a in forward if (a.step, a.item) == (step, item)]
        _generations(line, state.newest(step, item))
        for of in line:
            undos = [a for a in state.actions.values() if a.of_key == of.key]
            _generations(undos, state.undo_of(of))
    _items(state)
    _way_back(state)
    settled = ("landed", "accepted", "skipped")
    active = {a.key for a in state.actions.values() if a.state not in settled and not a.superseded}
    landed = {step.index for step in state.steps if _is_done(state.progress[step.index])}
    ready = {
        step.index
        for step in state.steps
        if state.phase
        and len(state.progress[step.index].newest) < state.progress[step.index].size
        and landed.issuperset(step.after)
    }
    if (set(state.active), sorted(state.ready), state.done) != (
        active,
        sorted(ready),
        len(landed),
    ):
        raise LawBroken("14", "an index is not what looking at everything gives")
    watched = {a.key for a in state.actions.values() if a.watch is not None}
    undoable = [a for a in state.actions.values() if state.steps[a.step].undo == "compensation"]
    strays = {a.key for a in undoable if a.late and a.undoing is None}
    if (set(state.watched), set(state.strays)) != (watched, strays):
        raise LawBroken("14", "what is watched or landed late is not what looking gives")
    open_cases = {case.key: case.id for case in state.cases.values() if case.state == "open"}
    known = {a.key: a.case for a in state.actions.values() if a.case is not None}
    count = sum(case.state == "open" for case in state.cases.values())
    if open_cases != known or state.open_cases != count or count != len(open_cases):
        raise LawBroken("10", "open cases, and what the run and its actions know of them")


def _is_done(progress: Progress) -> bool:
    landed = [
        one
        for one in progress.newest.values()
        if one.state in ("landed", "skipped") and not one.late
    ]
    if progress.done != len(landed):
        raise LawBroken("14", f"{progress.done} items are done, and {len(landed)} are")
    return len(landed) == progress.size


def _items(state: RunState) -> None:
    for step, progress in zip(state.steps, state.progress, strict=True):
        if step.each is None or progress.items is None:
            continue
        begun = [item for item in progress.newest if item is not None]
        if begun != progress.items.order[: len(begun)]:
            raise LawBroken("14", f"items of {step.name} began out of order: {begun}")
        unknown: dict[str, set[str]] = {}
        aside = set[str]()
        for one in progress.newest.values():
            if one.state == "unknown":
                unknown.setdefault(one.target, set()).add(one.key)
            if one.key in state.active and (one.state == "unknown" or one.case is not None):
                aside.add(one.key)
        if (progress.items.unknown, progress.items.aside) != (unknown, aside):
            raise LawBroken("14", f"the unknown items of {step.name} are not what looking gives")


def _way_back(state: RunState) -> None:
    """What is counted on the way back is what the definition of clear gives."""
    if not state.way_back:
        return
    clear = [False] * len(state.steps)
    frontier = set[int]()
    standing = 0
    for step in reversed(state.steps):
        newest = state.progress[step.index].newest.values()
        left = [one for one in newest if not _is_taken_back(state, one)]
        held = [one for one in left if not _is_passed(state, one)]
        reachable = all(clear[later] for later in step.before)
        clear[step.index] = reachable and not held
        standing += len(left)
        undoable = [
            one
            for one in newest
            if one.state == "landed"
            and one.undoing is None
            and not one.late
            and step.compensation is not None
        ]
        if reachable and undoable:
            frontier.add(step.index)
    counted = [one.clear for one in state.way_back]
    if (counted, state.frontier, state.standing) != (clear, frontier, standing):
        raise LawBroken("14", "the way back is not what looking at everything gives")


def _is_taken_back(state: RunState, action: Action) -> bool:
    undo = state.undo_of(action)
    if undo is not None:
        return undo.state in ("landed", "accepted")
    if action.state in ("sending", "unknown"):
        return False
    return action.state != "landed" or state.steps[action.step].compensation is None


def _is_passed(state: RunState, action: Action) -> bool:
    undo = state.undo_of(action)
    stuck = undo is not None and undo.case is not None and action.state != "unknown"
    return stuck and not state.steps[action.step].hold


def _generations(line: list[Action], newest: Action | None) -> None:
    if [a.generation for a in line] != list(range(1, len(line) + 1)):
        raise LawBroken("2", f"generations: {line}")
    if [a.superseded for a in line] != [True] * (len(line) - 1) + [False] * bool(line):
        raise LawBroken("2", f"superseded generations: {line}")
    if newest is not (line[-1] if line else None):
        raise LawBroken("14", f"newest generation of {line}")


def _may_wait(spec: SagaSpec, action: Action) -> bool:
    """An intent without a sending: nothing is called, people decide first, or another item does."""
    step = spec.steps[action.step]
    targeted = step.each is not None and step.each.on_unknown == "hold_target"
    return step.wait is not None or action.approval is not None or targeted


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
