"""What two places of a walk must share to have equal futures, as one hashable value.

Times count as distances from now, and only as far as a rule of these sagas can tell them apart.
"""

from __future__ import annotations

from collections.abc import Hashable

from saga.definition.spec import SagaSpec
from saga.machine.state import FORWARD, Action, Attempt, RunState
from saga.machine.ways import contract_of
from tests.machine.edges import Budget
from tests.machine.world import World

__all__ = ["likeness", "likeness_of_run"]

LONG_AGO = -9.0  # longer than in_flight, late_until and visible_after together


def likeness(spec: SagaSpec, state: RunState, world: World, budget: Budget, now: float) -> Hashable:
    """Equal for places that differ only in their history and in what the clock shows."""
    return (
        likeness_of_run(spec, state, now),
        tuple(_landings(spec, state, world, key, now) for key in sorted(world.landings)),
        tuple(sorted((o.key, o.latest - now, o.unbound, o.late) for o in world.under_way)),
        frozenset(world.late),
        frozenset(world.refused),
        frozenset(world.silent),
        frozenset(world.threads),
        budget,
    )


def likeness_of_run(spec: SagaSpec, state: RunState, now: float) -> Hashable:
    """The part that the machine can know."""
    deadline = state.deadline_at
    return (
        state.phase,
        state.outcome,
        state.cause,
        state.turn,
        state.cancel,
        state.deadline_passed,
        state.accepted,
        tuple(sorted(state.savepoints.items())),
        tuple(sorted((step, one.message) for step, one in state.signals.items())),
        tuple(
            max(state.begun[group] + limit - now, -1.0)
            for group, limit in spec.limits
            if group in state.begun and state.phase == "running"
        ),
        None if deadline is None or state.phase != "running" else max(deadline - now, -1.0),
        tuple(_action(spec, state, action, now) for action in state.actions.values()),
        _spending(state),
    )


def _spending(state: RunState) -> Hashable:
    spending = state.spending
    if spending is None:
        return None
    parts = spending.spent, spending.raised, spending.charged
    return *(tuple(sorted(part.items())) for part in parts), frozenset(spending.asking)


def _landings(spec: SagaSpec, state: RunState, world: World, key: str, now: float) -> Hashable:
    action = state.actions[key]
    provider = contract_of(spec, action).provider
    oldest = -(provider.key_life or provider.visible_after or 0.0)
    settled = action.state in ("landed", "accepted")
    if settled or (state.phase == "ended" and action.watch is None):
        oldest = 0.0
    ones = world.landings[key]
    return key, tuple((one.receipt, max(one.at - now, oldest), one.taken_back) for one in ones)


def _approval(action: Action, now: float) -> Hashable:
    asked = action.approval
    if asked is None or action.state != "intended":
        return asked is not None and tuple(sorted(asked.late))
    return max(asked.expires_at - now, 0.0), tuple(sorted(asked.given)), tuple(sorted(asked.late))


def _attempt(action: Action, one: Attempt, now: float) -> Hashable:
    return (
        action.attempts - one.number,
        max(one.send_by - now, -1.0) if one.in_flight else 0.0,
        one.threaded,
        one.in_flight,
        one.interrupted,
        one.running,
    )


def _action(spec: SagaSpec, state: RunState, action: Action, now: float) -> Hashable:
    kind = None if action.case is None else state.cases[action.case].kind
    head = (
        action.key,
        action.state,
        kind,
        action.superseded,
        action.undone,
        action.answered_for,
        len(action.others),
        action.late,
        _approval(action, now),
        action.evidence is not None,
        None if action.watch is None else max(action.watch - now, 0.0),
        (action.unseen, max(action.probe_due - now, 0.0)) if action.watch is not None else None,
    )
    over = state.phase == "ended" and action.direction == FORWARD
    if action.superseded or action.state in ("landed", "accepted") or over:
        return (*head, str(action.receipt), action.wish)
    first = action.first_absent
    life = contract_of(spec, action).provider.key_life or 0.0
    return (
        *head,
        tuple(_attempt(action, one, now) for one in action.open.values()),
        action.attempts == 0,
        max(action.first_at - now, -life),
        max(action.last_until - now, LONG_AGO),
        action.not_sent,
        action.resends,
        action.probes,
        action.refusals,
        action.asked,
        action.last_answer,
        None if first is None else max(first - now, LONG_AGO),
        action.conflict,
        action.repeats,
        action.crashes,
        action.again,
        action.wish,
        min(max(action.due - now, 0.0), 9.0),
        max(action.probe_due - now, 0.0),
        None if action.deadline_at is None else max(action.deadline_at - now, -1.0),
    )
