"""What an owner has to do next. The counterpart of `decide`: state in, intents out.

Nothing here changes a state. An owner asks after each record and when the due time comes. What is
listed is accepted by `decide`: both ask the same rules of this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeAlias

from saga.definition.spec import SagaSpec
from saga.machine.budgets import awaits_raise, counts_probes, exceeded, is_asked
from saga.machine.commands import Intend, Unfreezable
from saga.machine.follow import consequences
from saga.machine.forward import begins_in_time, goes_forward, unfinished
from saga.machine.items import next_items
from saga.machine.moves import Next
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.machine.unwinding import may_undo, undo_ready
from saga.machine.watching import last_reading
from saga.machine.ways import next_move

__all__ = [
    "AskNow",
    "BeginNow",
    "BeginProbeNow",
    "DecideNow",
    "Plan",
    "SendNow",
    "Todo",
    "asks",
    "begins",
    "calls_due",
    "plan",
    "sends",
]


@dataclass(frozen=True, slots=True)
class BeginNow:
    """Freeze the intent of a step's action (`Intend`) and send it.

    `of_key`: the action that it reverses; `None` for one that goes forward. `item`: of an `Each`;
    `choice`: the alternative, from 1 on.
    """

    step: int
    of_key: str | None
    generation: int
    item: str | None = None
    choice: int = 0


@dataclass(frozen=True, slots=True)
class SendNow:
    """One more attempt under the key of an intent (`Send`)."""

    key: str


@dataclass(frozen=True, slots=True)
class BeginProbeNow:
    """Record a probe that a budget counts (`BeginProbe`); when that is durable it is made."""

    key: str


@dataclass(frozen=True, slots=True)
class AskNow:
    """Probe the provider by key (`ProbeAnswer`)."""

    key: str


@dataclass(frozen=True, slots=True)
class DecideNow:
    """A time has come at which something follows without any call (`Wake`)."""


Todo: TypeAlias = BeginNow | SendNow | BeginProbeNow | AskNow | DecideNow


class Plan(NamedTuple):
    """`todo`: what is due. `due`: when to look again, `None` if only others can act."""

    todo: tuple[Todo, ...]
    due: float | None


def plan(spec: SagaSpec, state: RunState, now: float) -> Plan:
    """All that is due at `now` for a run, and the next due time after it."""
    if state.phase and consequences(spec, state, now):
        return Plan((DecideNow(),), now)
    return calls_due(spec, state, now)


def calls_due(spec: SagaSpec, state: RunState, now: float) -> Plan:
    """The same, once all that follows by itself at `now` is decided, as after any transition."""
    if not state.phase:
        return Plan((), None)
    todo: list[Todo] = []
    due: list[float] = []
    for action in state.moving.values():
        move = next_move(spec, state, action, now)
        if move is None:
            continue
        if move.at > now or move.next is Next.AWAIT or move.next is Next.WAIT:
            due.append(move.at)
        elif move.next is Next.SEND:
            todo.append(SendNow(action.key))
        elif move.next is Next.PROBE:
            todo.append(_ask(state, action))
        elif move.next is Next.RENEW and step_of(spec.steps, action).wait is None:
            again = action.generation + 1
            choice = action.choice if action.direction == FORWARD else 0
            todo.append(BeginNow(action.step, action.of_key, again, action.item, choice))
        elif move.next is Next.INSTEAD:
            todo.append(BeginNow(action.step, None, 1, action.item, action.choice + 1))
    for action in state.watched.values():
        move = last_reading(spec, action, now)
        if move is None or _ask(state, action) in todo:
            continue
        if move.at > now:
            due.append(move.at)
        elif not exceeded(spec, state, action, probe=True):  # else once the run is over
            todo.append(_ask(state, action))
    if state.strays or state.way_back:
        todo += [BeginNow(of.step, of.key, 1, of.item) for of in undo_ready(spec, state, now)]
    if goes_forward(state, now):
        for index in () if spec.budget and awaits_raise(state) else state.ready:
            step = spec.steps[index]
            if step.wait is None and begins_in_time(spec, state, step, now):
                todo += [BeginNow(index, None, 1, item) for item in next_items(state, step)]
        if not state.past_pivot and (spec.limits or state.deadline_at is not None):
            due += [at for at in _deadlines(spec, state) if at > now]
    if todo:
        return Plan(tuple(todo), now)
    soonest = min(due, default=inf)
    return Plan((), None if soonest == inf else soonest)


def _deadlines(spec: SagaSpec, state: RunState) -> list[float]:
    """When a run that goes forward, or a sub-saga of it that has not ended, is out of time."""
    groups = [
        state.begun[group] + limit
        for group, limit in spec.limits
        if group in state.begun and unfinished(spec, state, group) is not None
    ]
    return groups if state.deadline_at is None else [*groups, state.deadline_at]


def _ask(state: RunState, action: Action) -> AskNow | BeginProbeNow:
    """A probe of an action: made at once, or recorded first where it counts."""
    if counts_probes(state) and not is_asked(state, action):
        return BeginProbeNow(action.key)
    return AskNow(action.key)


def asks(spec: SagaSpec, state: RunState, action: Action, now: float) -> bool:
    """Whether a probe of `action` is to be recorded at `now`, so that it can be made."""
    if not counts_probes(state) or is_asked(state, action):
        return False
    move = next_move(spec, state, action, now) if action.key in state.active else None
    if move is not None and move.next is Next.PROBE and move.at <= now:
        return True
    move = last_reading(spec, action, now) if action.key in state.watched else None
    due = move is not None and move.next is Next.PROBE and move.at <= now
    return due and not exceeded(spec, state, action, probe=True)


def sends(spec: SagaSpec, state: RunState, action: Action, now: float) -> bool:
    """Whether one more attempt under the action's key is due at `now`."""
    move = next_move(spec, state, action, now)
    return move is not None and move.next is Next.SEND and move.at <= now


def begins(spec: SagaSpec, state: RunState, command: Intend | Unfreezable) -> bool:
    """Whether the action of `command` is to be frozen now."""
    step, now = command.step, command.at
    if not 0 <= step < len(spec.steps):
        return False
    of = None if command.of_key is None else state.actions.get(command.of_key)
    if command.of_key is not None and of is None:
        return False
    if of is not None and (of.step, of.item, of.direction) != (step, command.item, FORWARD):
        return False
    before = state.newest(step, command.item) if of is None else state.undo_of(of)
    if before is not None:
        move = next_move(spec, state, before, now)
        if move is None or move.at > now or spec.steps[step].wait is not None:
            return False
        if move.next is Next.INSTEAD:
            return (command.choice, command.generation) == (before.choice + 1, 1)
        choice = before.choice if of is None else 0
        again = choice, before.generation + 1
        return move.next is Next.RENEW and (command.choice, command.generation) == again
    if (command.choice, command.generation) != (0, 1):
        return False
    if of is None:
        calls = spec.steps[step].wait is None and step in state.ready and not awaits_raise(state)
        calls = calls and command.item in next_items(state, spec.steps[step])[:1]
        return calls and begins_in_time(spec, state, spec.steps[step], now)
    return may_undo(spec, state, of, now)
