"""What a run waits for, action by action, by the very rules that move it.

A hold names a rule, the evidence for it, when it is looked at next and what would end it sooner.
Nothing is guessed from tables: `next_move` says what comes next, and this puts it into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saga.definition.keys import place_of
from saga.definition.spec import StepSpec
from saga.inquiries.hold import Hold, clock_time
from saga.inquiries.listing import items_hold, sent_hold
from saga.inquiries.sleeping import wait_hold
from saga.journal.history import History
from saga.journal.pauses import Pause
from saga.machine.budgets import awaits_raise
from saga.machine.forward import goes_forward, winds_down
from saga.machine.items import next_items
from saga.machine.moves import LEAVING, Move, Next
from saga.machine.state import FORWARD, UNDO, Action, step_of
from saga.machine.unwinding import undo_ready
from saga.machine.watching import last_reading
from saga.machine.ways import next_move
from saga.spent import run_budget
from saga.views import moment

__all__ = ["action_holds", "case_holds", "late_holds", "step_holds"]


def case_holds(history: History) -> Iterator[Hold]:
    """The open cases: only a person frees those."""
    state = history.state
    for case in state.cases.values():
        if case.state != "open":
            continue
        action = state.actions[case.key]
        yield Hold(
            rule="case",
            text=f"case {case.id} ({case.kind}) waits for a person: {case.text}",
            evidence=(f"open since {clock_time(case.opened_at)}", *_facts(action)),
            freed_by=f"saga case {case.id}",
            step=step_of(history.spec.steps, action).name,
            direction=action.direction,
        )


def action_holds(
    history: History, now: float, pauses: Mapping[tuple[str, str], Pause]
) -> Iterator[Hold]:
    """What comes next for every action that is not settled and not a person's."""
    for action in history.state.active.values():
        move = next_move(history.spec, history.state, action, now)
        if action.case is not None and move is not None and move.next is Next.WAIT:
            continue
        if move is None:
            if (held := sent_hold(history, action)) is not None:
                yield held
            continue
        step = step_of(history.spec.steps, action)
        if move.next is Next.INSTEAD:
            step = history.spec.steps[action.step].choice(action.choice + 1)
        pause = _pause(history, step, action.direction, pauses)
        if pause is not None and move.next in LEAVING:
            yield _paused(step, pause)
        else:
            yield _move_hold(history, action, move, now)


def late_holds(history: History, now: float) -> Iterator[Hold]:
    """What may still land, and what has landed late and is to be undone."""
    for action in history.state.watched.values():
        move = last_reading(history.spec, action, now)
        if move is None:
            continue
        what = _name(history, action)
        yield Hold(
            rule="watched",
            text=f"{what} was settled as not having happened; its provider is asked a last time "
            f"at {clock_time(move.at)}, when no straggler can land any more",
            evidence=_facts(action),
            next_at=moment(move.at),
            freed_by="that answer, or a report of its receipt",
            step=step_of(history.spec.steps, action).name,
            direction=action.direction,
        )
    for action in history.state.strays.values():
        yield _due(step_of(history.spec.steps, action).name, UNDO)


def step_holds(
    history: History, now: float, pauses: Mapping[tuple[str, str], Pause]
) -> Iterator[Hold]:
    """Steps and undos that have no intent yet, and might."""
    spec, state = history.spec, history.state
    if state.phase == "running" and goes_forward(state, now) and not state.lacks_turn:
        for index in state.ready:
            step = spec.steps[index]
            pause = _pause(history, step, FORWARD, pauses)
            if pause:
                yield _paused(step, pause)
            elif awaits_raise(state):
                yield _budget_hold(history, step.name)
            elif step.each is not None and not next_items(state, step):
                yield items_hold(history, step)
            else:
                yield _due(step.name, FORWARD)
    yield from _way_back(history, now)


def _way_back(history: History, now: float) -> Iterator[Hold]:
    """Undos that have no intent yet."""
    spec, state = history.spec, history.state
    ready = {of.step for of in undo_ready(spec, state, now)} if state.way_back else set()
    for step in reversed(spec.steps) if state.way_back else ():
        if step.index in ready:
            yield _due(step.name, UNDO)
        elif winds_down(state, step) and _to_be_undone(history, step.index):
            yield _undo_waits(history, step.index)


def _pause(
    history: History, step: StepSpec, direction: str, pauses: Mapping[tuple[str, str], Pause]
) -> Pause | None:
    """The pause that keeps a step from going forward; undos go on."""
    if direction != FORWARD:
        return None
    effect = step.effect
    names = (("saga", history.spec.name), ("effect", effect.name))
    for name in (*names, ("provider", effect.provider.name)):
        if name in pauses:
            return pauses[name]
    return None


def _paused(step: StepSpec, pause: Pause) -> Hold:
    who = f" by {pause.actor}" if pause.actor else ""
    return Hold(
        rule="paused",
        text=f"{step.name} is not sent: {pause.kind} {pause.name} is paused",
        evidence=(f"paused at {clock_time(pause.at)}{who}: {pause.reason}",),
        freed_by=f"saga resume --{pause.kind} {pause.name}",
        step=step.name,
        direction=FORWARD,
    )


def _budget_hold(history: History, step: str) -> Hold:
    state = history.state
    case = "" if state.spending is None else state.spending.case
    spent = run_budget(history).items()
    return Hold(
        rule="budget",
        text=f"{step} is not begun: somebody must decide about the budget of the run first",
        evidence=tuple(f"{one.spent} of {one.limit} {name} are used up" for name, one in spent),
        freed_by=f"saga case {case}",
        step=step,
        direction=FORWARD,
    )


def _due(step: str, direction: str) -> Hold:
    what = step if direction == FORWARD else f"the undo of {step}"
    return Hold(
        rule="due",
        text=f"{what} is due now",
        freed_by="an orchestrator takes it up by itself",
        step=step,
        direction=direction,
    )


def _to_be_undone(history: History, index: int) -> bool:
    return any(
        action.undoing is None
        and action.state in ("landed", "unknown")
        and step_of(history.spec.steps, action).compensation is not None
        for action in history.state.progress[index].newest.values()
    )


def _undo_waits(history: History, index: int) -> Hold:
    steps = history.spec.steps
    later, queue = set[int](), list(steps[index].before)
    while queue:
        one = queue.pop()
        if one not in later:
            later.add(one)
            queue += steps[one].before
    way_back = history.state.way_back
    unsettled = [
        steps[one].name for one in sorted(later) if one in way_back and way_back[one].holding
    ]
    behind = ", ".join(unsettled) or steps[index].name
    return Hold(
        rule="undo_waits",
        text=f"the undo of {steps[index].name} waits until {behind} is settled or undone",
        evidence=("undos run against the order of the steps, never past one that is unknown",),
        freed_by=f"whatever settles {behind}",
        step=steps[index].name,
        direction=UNDO,
    )


def _move_hold(history: History, action: Action, move: Move, now: float) -> Hold:
    step, what = step_of(history.spec.steps, action).name, _name(history, action)
    if move.next is Next.WAIT:
        return wait_hold(history, action, move)
    rule, text, freed = _words(action, move, what)
    if move.at <= now and move.next is not Next.AWAIT:
        text += "; that is due now"
    elif move.next is not Next.AWAIT:
        text += f"; that is due at {clock_time(move.at)}"
    return Hold(
        rule=rule,
        text=text,
        evidence=_facts(action),
        next_at=moment(move.at),
        freed_by=freed,
        step=step,
        direction=action.direction,
    )


def _name(history: History, action: Action) -> str:
    step = place_of(step_of(history.spec.steps, action).name, action.item)
    return step if action.direction == FORWARD else f"the undo of {step}"


def _words(  # noqa: PLR0911  one line for each thing that it may be
    action: Action, move: Move, what: str
) -> tuple[str, str, str]:
    """Rule, sentence and way out of a move: one line for each thing that it may be."""
    report = "a report of its receipt"
    match move.next:
        case Next.AWAIT if action.state == "sending":
            cut = f"cut off at {clock_time(move.at)}, and unknown then"
            return (
                "in_flight",
                f"a call of {what} is under way; it is {cut}",
                f"its reply, or {report}",
            )
        case Next.AWAIT:
            text = f"a call of {what} has timed out and still not returned"
            return "still_running", text, "the end of that call, or of its process"
        case Next.SEND if action.state == "not_sent":
            return "retry", f"{what} was provably not sent and is sent again", "that attempt"
        case Next.SEND if action.state == "absent":
            return "again", f"{what} was proven absent and is sent again", "that attempt"
        case Next.SEND:
            text = f"nobody knows whether {what} happened; it is sent again under the same key"
            return "resend", text, f"that attempt, or {report}"
        case Next.PROBE:
            text = f"nobody knows whether {what} happened; its provider is asked by key"
            if action.first_absent is not None:
                text += " once more, since an absence needs two readings"
            return "probe", text, f"the provider's answer, or {report}"
        case Next.RENEW:
            word = "by a person's word" if action.wish == "new" else f"since it was {action.state}"
            return "renewed", f"{what} is sent again under a new key, {word}", "that"
        case Next.BLIND:
            text = f"nobody knows whether {what} happened; its undo works without a receipt"
            return "undo_unknown", text, f"that undo, or {report}"
        case _:
            return "due", f"{what} did not happen, and what follows is recorded", "that record"


def _facts(action: Action) -> tuple[str, ...]:
    """What is on record about an action, a line each. Never an argument's value."""
    times = "1 attempt" if action.attempts == 1 else f"{action.attempts} attempts"
    facts = [f"action {action.key} is {action.state} after {times}"]
    if action.error:
        facts.append(f"last error {action.error['type']}: {action.error['text']}")
    if action.probes or action.last_answer:
        answer = f", last answer {action.last_answer}" if action.last_answer else ""
        facts.append(f"asked {action.probes} times without an end{answer}")
    if action.first_absent is not None:
        facts.append(f"first reading of absence at {clock_time(action.first_absent)}")
    return tuple(facts)
