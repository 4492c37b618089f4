"""The laws that a journal shows by itself: one run, replayed event by event.

The laws are looked up here by reading, not by asking the rules that made the record: what was
decided is compared with the promise, so that a wrong rule is seen too.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TypeAlias

from saga.definition.spec import SagaSpec, StepSpec
from saga.journal.records import Record
from saga.machine.action_events import (
    Absent,
    Intended,
    Landed,
    NotSent,
    Refused,
    Sending,
    Unknown,
)
from saga.machine.bounds import absence_bound
from saga.machine.decide import EVENTS_MAX
from saga.machine.events import (
    CancelRecorded,
    CaseClosed,
    CaseOpened,
    DeadlinePassed,
    Ended,
    Event,
    Started,
    WindingDown,
)
from saga.machine.evolve import evolve
from saga.machine.follow import consequences
from saga.machine.forward import is_on_path
from saga.machine.state import FORWARD, Action, RunState, new_state, step_of
from saga.machine.verdicts import not_before
from saga.machine.ways import contract_of
from saga.testing.observer import successors, unknown_after

__all__ = ["Finding", "recorded_laws"]

Finding: TypeAlias = tuple[int, str]
"""The number of a law and what was found."""

_TEXT_LIMIT = 2048


def recorded_laws(
    spec: SagaSpec, records: tuple[Record, ...], tuned_at: float
) -> Iterator[Finding]:
    """What a run's journal breaks. `tuned_at`: since when the stored tuning holds."""
    state = new_state(spec)
    makers: dict[tuple[str, int], int] = {}  # of each attempt: the fence of who made it
    for record in records:
        # Before that time it was decided by another tuning, which nobody keeps.
        tuned = record.at >= tuned_at
        for event in record.events:
            yield from _event(spec, state, event, record, tuned=tuned)
            yield from _answered(makers, event, record)
            evolve(state, event, record.at)
        full = len(record.events) >= EVENTS_MAX  # the rest follows with the next one
        if tuned and not full and (more := consequences(spec, state, record.at)):
            names = ", ".join(one.kind for one in more)
            yield 13, f"record {record.seq} lacks what follows from it: {names}"


def _answered(
    makers: dict[tuple[str, int], int], event: Event, record: Record
) -> Iterator[Finding]:
    """That an attempt did nothing is known to who made it, and to nobody else."""
    if isinstance(event, Sending):
        makers[event.key, event.attempt] = event.fence
        return
    if not isinstance(event, NotSent | Refused) or not (event.attempt and record.fence):
        return
    if makers.get((event.key, event.attempt)) != record.fence:
        what = f"attempt {event.attempt} of {event.key}"
        yield 12, f"{what} is recorded as {event.kind} by an owner that has not made it"


def _event(  # noqa: C901, PLR0912  one case for each kind of event
    spec: SagaSpec, state: RunState, event: Event, record: Record, *, tuned: bool
) -> Iterator[Finding]:
    if state.phase == "ended" and _moves(state, event):
        yield 7, f"record {record.seq} changes an ended run: {event.kind}"
    match event:
        case Intended():
            yield from _intended(state, event)
        case Sending():
            yield from _sending(spec, state, event, record)
        case Landed():
            kept = event.source == "signal"  # with the record of the signal
            forward = state.actions[event.key].direction == FORWARD
            if event.receipt is None and forward and not kept:
                yield 12, f"{event.key} counts as landed without a receipt"
        case Absent(source="probe") if tuned:
            yield from _absent(spec, state.actions[event.key], event)
        case WindingDown():
            yield from _winding(state, event)
        case Ended():
            yield from _end(spec, state, event)
        case CaseOpened():
            if state.actions[event.key].case is not None:
                yield 10, f"a second open case of {event.key}: {event.case}"
        case CaseClosed(verdict=str()):
            yield from _verdict(spec, state, event, record, tuned=tuned)
        case _:
            pass
    error = getattr(event, "error", None)
    if error is not None and len(str(error["type"])) + len(str(error["text"])) > _TEXT_LIMIT:
        yield 15, f"record {record.seq} holds an error of {len(str(error['text']))} characters"


def _moves(state: RunState, event: Event) -> bool:
    """Whether it would change what an ended run came to, or take it forward.

    What was late may still become known and be undone; neither changes how the run ended.
    """
    if isinstance(event, Started | CancelRecorded | DeadlinePassed | WindingDown | Ended):
        return True
    if isinstance(event, Intended):
        return event.of_key is None
    if isinstance(event, Sending | Landed | Refused | NotSent | Unknown | Absent):
        return state.actions[event.key].direction == FORWARD
    return False


def _intended(state: RunState, event: Intended) -> Iterator[Finding]:
    if event.key in state.actions:
        yield 2, f"the key {event.key} is intended twice"
    if event.of_key is None:
        return
    of = state.actions[event.of_key]
    if event.generation == 1 and event.key != of.undo_key:
        yield 1, f"the undo {event.key} has not the key that was written ahead, {of.undo_key}"
    if of.state not in ("landed", "unknown"):
        yield 8, f"the undo {event.key} of something that is {of.state}"
    if not of.late:
        for name, after in unknown_after(state, of.step):
            yield 9, f"the undo {event.key} is intended while {name} is {after}"
        # A later generation goes on from where the first one was allowed to begin.
        for name in _standing_after(state, of.step) if event.generation == 1 else ():
            yield 9, f"the undo {event.key} is intended while {name} stands, which follows it"


def _standing_after(state: RunState, step: int) -> Iterator[str]:
    """The transitive successors of a step that landed and are still to be taken back."""
    for index in successors(state, step):
        for action in state.progress[index].newest.values():
            undo = state.undo_of(action)
            if action.state != "landed" or step_of(state.steps, action).compensation is None:
                continue
            done = undo is not None and undo.state in ("landed", "accepted")
            passed = undo is not None and undo.case is not None and not state.steps[index].hold
            if not done and not passed:
                yield state.steps[index].name


def _sending(spec: SagaSpec, state: RunState, event: Sending, record: Record) -> Iterator[Finding]:
    action = state.actions.get(event.key)
    if action is None:
        yield 1, f"{event.key} is sent without an intent"
        return
    if event.fence != record.fence:
        yield 6, f"attempt {event.attempt} of {event.key} bears the fence of somebody else"
    if action.direction == FORWARD and state.turn in ("waits", "parked"):
        yield 1, f"{event.key} is sent without the turn of {state.resource}"
    if action.direction == FORWARD and step_of(spec.steps, action).approval is not None:
        yield from _approved(action, record)
    provider = contract_of(spec, action).provider
    if event.attempt != action.attempts + 1:
        yield 1, f"attempt {event.attempt} of {event.key} follows attempt {action.attempts}"
    if action.state in ("landed", "accepted"):
        yield 2, f"{event.key} is sent again, though it is {action.state}"
    if action.open and not provider.honours_keys:
        yield 2, f"{event.key} is sent again while unknown, where keys mean nothing"
    forgotten = event.send_by >= action.first_at + (provider.key_life or inf)
    if action.open and forgotten and not _is_a_persons_word(spec, action):
        yield 2, f"{event.key} is sent again after its key may be forgotten"
    if state.phase != "running" and action.direction == FORWARD and not action.open:
        yield 8, f"{event.key} goes forward in a run that is being undone"


def _is_a_persons_word(spec: SagaSpec, action: Action) -> bool:
    """Where the provider cannot be asked, who has looked at it says that it is to be repeated."""
    contract = contract_of(spec, action)
    can_ask = contract.probe and absence_bound(action, contract.provider) is not None
    return action.wish == "same" and not can_ask


def _approved(action: Action, record: Record) -> Iterator[Finding]:
    asked = action.approval
    people = set() if asked is None else {one for one in asked.given if {one, "*"} & set(asked.by)}
    if asked is None or len(people) < asked.people:
        yield 12, f"{action.key} is sent without its approval"
    elif action.attempts == 0 and record.at >= asked.expires_at:
        yield 12, f"{action.key} is sent after its approval has expired"


def _absent(spec: SagaSpec, action: Action, event: Absent) -> Iterator[Finding]:
    provider = contract_of(spec, action).provider
    in_flight, visible_after = provider.in_flight, provider.visible_after
    if in_flight is None or visible_after is None:
        yield 12, f"{event.key} counts as absent, though nobody declared when absence is proof"
        return
    first, bound = action.first_absent, action.last_until + in_flight + visible_after
    if first is None or first < bound or event.read_at < first:
        yield 12, f"{event.key} counts as absent without two readings that count"


def _winding(state: RunState, event: WindingDown) -> Iterator[Finding]:
    if state.phase != "running":
        yield 7, "the run winds down twice"
    if event.cause not in ("refused", "attempts") or event.step is None:
        return
    failed = state.progress[state.positions[event.step]].newest.values()
    states = {action.state for action in failed}
    if states and states <= {"sending", "unknown"}:
        yield 12, f"the run winds down as if {event.step} had failed: it is unknown"


def _end(spec: SagaSpec, state: RunState, event: Ended) -> Iterator[Finding]:
    if event.outcome == "completed":
        for step, progress in zip(spec.steps, state.progress, strict=True):
            actions = progress.newest.values()
            if not is_on_path(state, step):
                yield from (
                    (8, f"completed another way while {one.key} stands")
                    for one in actions
                    if one.state == "landed" and not _is_taken_back(spec, state, one)
                )
            elif len(actions) < progress.size or not all(_is_done(step, one) for one in actions):
                yield 12, f"completed, though {step.name} has not landed"
        return
    for action in state.actions.values():
        if action.direction != FORWARD or (action.superseded and not action.late):
            continue
        if action.state in ("sending", "unknown"):
            yield 8, f"ended {event.outcome} while {action.key} is {action.state}"
        if action.state == "landed" and not _is_taken_back(spec, state, action):
            yield 8, f"ended {event.outcome} while {action.key} stands"


def _is_done(step: StepSpec, action: Action) -> bool:
    free = step.optional or action.evidence is not None
    return action.state == "landed" or (free and action.state == "skipped")


def _is_taken_back(spec: SagaSpec, state: RunState, action: Action) -> bool:
    undo = state.undo_of(action)
    if undo is not None and undo.state in ("landed", "accepted"):
        return True
    return step_of(spec.steps, action).undo == "nothing" or action.answered_for


def _verdict(
    spec: SagaSpec, state: RunState, event: CaseClosed, record: Record, *, tuned: bool
) -> Iterator[Finding]:
    case = state.cases[event.case]
    if not event.actor or not event.reason or event.looked_at is None:
        yield 11, f"the verdict on {event.case} lacks its person, reason or look"
        return
    if event.looked_at > record.at:
        yield 11, f"the verdict on {event.case} was given before its person looked"
    bound = not_before(spec, state, case, event.verdict or "") if tuned else None
    if bound is not None and min(event.looked_at, record.at) < bound:
        yield 11, f"the verdict {event.verdict} on {event.case} is from before it could be known"
