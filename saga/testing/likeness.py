"""When two durable states are the same: whatever comes next can differ in nothing but times.

Left out are versions, fences, seals, names of orchestrators and the number of attempts, since no
rule looks at them, and absolute times: of those only what a rule compares with the present.
"""

from __future__ import annotations

from math import inf

from saga.definition.spec import SagaSpec
from saga.machine.bounds import absence_bound
from saga.machine.state import Action, RunState
from saga.machine.ways import contract_of
from saga.testing.observer import Watched

__all__ = ["likeness"]


def likeness(run: Watched, spec: SagaSpec, now: float) -> tuple[object, ...]:
    """What tells one durable state of a run from another."""
    state = run.state
    return (
        state.phase,
        state.outcome,
        state.cause,
        state.turn,
        state.cancel is not None,
        state.deadline_passed,
        state.accepted,
        tuple(sorted(state.signals)),
        state.deadline_at is not None and now >= state.deadline_at,
        run.head.due is None,
        tuple(_action(spec, state, action, now) for action in state.actions.values()),
        tuple((case.key, case.kind, case.state, case.verdict) for case in state.cases.values()),
    )


def _action(spec: SagaSpec, state: RunState, action: Action, now: float) -> tuple[object, ...]:
    settled: tuple[object, ...] = (
        action.key,
        action.state,
        repr(action.receipt),
        len(action.others),
        action.superseded,
        action.undone,
        action.answered_for,
        action.late,
        action.evidence is not None,
        action.approval is not None
        and (tuple(action.approval.given), now >= action.approval.expires_at),
        action.undoing is not None,
        action.watch is not None and now >= action.watch,
    )
    if action.key not in state.active:
        return settled
    contract = contract_of(spec, action)
    life = contract.provider.key_life
    bound = absence_bound(action, contract.provider)
    return (
        *settled,
        tuple(
            (one.in_flight, one.running, one.threaded, one.interrupted)
            for one in action.open.values()
        ),
        (action.crashes, action.repeats, action.state == "intended" and now >= action.due),
        (action.not_sent, action.resends, action.probes, action.refusals),
        (action.asked, action.last_answer, action.conflict, action.again, action.wish),
        action.first_absent is not None,
        bound is not None and now >= bound,
        life is not None and now + contract.timeout >= action.first_at + life,
        now >= (action.deadline_at or inf),
    )
