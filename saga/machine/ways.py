"""The ways out for one action: what may come next, when, and when nothing may.

These are the rules of the four windows. An unknown action is asked about, then repeated under its
key while the key surely lives, then proven absent by two readings, else it goes to a person. Every
rule is a function of the state, the tuning and the time; `plan` acts on the answer, `follow`
records what it means when there is no way left, `decide` checks against it.
"""

from __future__ import annotations

from math import inf

from saga.definition.spec import ContractSpec, SagaSpec, StepSpec
from saga.machine.bounds import absence_bound, under_way
from saga.machine.budgets import exceeded, held_up, stands_back
from saga.machine.forward import begins_in_time, is_final, leads_on, winds_down
from saga.machine.items import holds
from saga.machine.moves import LEAVING, Move, Next
from saga.machine.state import FORWARD, Action, RunState, step_of

__all__ = [
    "contract_of",
    "next_move",
    "savepoint_of",
    "way_out",
]


_EXPIRED = ("Expired", "ApprovalExpired")  # of a wait, of an approval


def contract_of(spec: SagaSpec, action: Action) -> ContractSpec:
    """The contract of an action's direction, with the tuning of `spec`."""
    step = step_of(spec.steps, action)
    contract = step.effect if action.direction == FORWARD else step.compensation
    assert contract is not None, action.key
    return contract


def next_move(spec: SagaSpec, state: RunState, action: Action, now: float) -> Move | None:
    """What comes next for `action`; `None` if it rests, or a person has the word."""
    if action.state == "sending":
        return Move(Next.AWAIT, min([a.send_by for a in action.open.values() if a.in_flight]))
    if action.wish == "probe":
        asked = Move(Next.PROBE, action.probe_due)
        move = _afforded(spec, state, action, asked, now) if spec.budget else asked
        too_much = move is not None and move.next is Next.GIVE_UP
        return None if too_much and action.case is not None else move
    if action.case is not None:
        approval = action.approval if action.state == "intended" else None
        return None if approval is None else Move(Next.WAIT, approval.expires_at)
    return way_out(spec, state, action, now)


def way_out(spec: SagaSpec, state: RunState, action: Action, now: float) -> Move | None:
    """The next move of an action that is not in flight, as if no person were looking at it."""
    move = _held(spec, state, action, _way_out(spec, state, action, now))
    return move if move is None or not spec.budget else _afforded(spec, state, action, move, now)


def _held(spec: SagaSpec, state: RunState, action: Action, move: Move | None) -> Move | None:
    """The same move, unless another run has the turn, or another item of its `Each` holds it."""
    if move is None or not (state.spreads or state.turn) or action.direction != FORWARD:
        return move  # most of the time
    if move.next not in LEAVING:
        return move
    item = state.spreads and action.state != "unknown"  # else it settles what holds the others
    held = state.lacks_turn or (item and holds(state, step_of(spec.steps, action), action.target))
    return None if held else move


def _afforded(
    spec: SagaSpec, state: RunState, action: Action, move: Move, now: float
) -> Move | None:
    """The same move, as far as the budget allows it; else a person's turn, or another one's case.

    What is unknown is asked about where sending it again would be too much.
    """
    if (move.next not in LEAVING and move.next is not Next.PROBE) or move.at > now:
        return move
    if not held_up(state, action):
        return move
    if move.next in (Next.RENEW, Next.INSTEAD):
        return None if stands_back(state, action) else move
    asks = move.next is Next.PROBE
    if not exceeded(spec, state, action, probe=asks):
        return move
    at = None
    if not asks and action.state == "unknown":
        at = _next_reading(action, contract_of(spec, action))
    if at is not None:
        return _afforded(spec, state, action, Move(Next.PROBE, at), now)
    return None if stands_back(state, action) else Move(Next.GIVE_UP, now, "budget")


def _way_out(spec: SagaSpec, state: RunState, action: Action, now: float) -> Move | None:
    if action.superseded or action.state in ("landed", "accepted", "skipped"):
        return None
    step, contract = step_of(spec.steps, action), contract_of(spec, action)
    unknown = action.state == "unknown"
    if unknown and action.undoing is not None:
        return None  # without a receipt; that undo has its own ways out
    new = not unknown and action.direction == FORWARD
    if new and (state.phase != "running" or not begins_in_time(spec, state, step, now)):
        return None
    if step.wait is not None and action.state == "intended":
        return Move(Next.WAIT, min(action.due, action.deadline_at or inf))
    if action.approval is not None and action.state == "intended":
        if not action.approval.complete or now >= action.approval.expires_at:
            return Move(Next.WAIT, action.approval.expires_at)
        if not _in_time(action, now):
            return _spent(state, action, now, "attempts", "undo_exhausted")
        return Move(Next.SEND, now)
    if _as_asked(state, action, contract, now):
        return Move(Next.SEND if action.wish == "same" else Next.RENEW, action.due)
    if unknown:
        return _unknown(state, action, step, contract, now)
    if action.state == "refused":
        # By the provider: what a person refused, or nobody approved in time, is not asked again.
        if action.attempts and _may_renew(action, contract) and _in_time(action, now):
            return Move(Next.RENEW, action.due)
        expired = action.error is not None and action.error["type"] in _EXPIRED
        cause = "deadline" if expired else "refused"
        return _spent(state, action, now, cause, "undo_refused")
    if action.state == "absent":
        return _absent(state, action, contract, now)
    if action.not_sent < contract.retry.attempts and _in_time(action, now):
        return Move(Next.SEND, action.due)
    return _spent(state, action, now, "attempts", "undo_exhausted")


def _as_asked(state: RunState, action: Action, contract: ContractSpec, now: float) -> bool:
    """A person's word holds: until the run winds down, and inside the life of the key.

    What landed after the look, by a broken promise, may be forgotten later on; then it is read
    again. Where nothing ever left, or nobody can be asked, there is only the person's word.
    """
    if action.wish is None or (
        action.direction == FORWARD and not leads_on(state, step_of(state.steps, action))
    ):
        return False
    if action.wish == "new" or action.state == "not_sent":
        return True
    can_ask = contract.probe and absence_bound(action, contract.provider) is not None
    return not can_ask or _in_life(action, contract, now)


def _spent(state: RunState, action: Action, now: float, cause: str, kind: str) -> Move:
    """It did not happen and will not by itself."""
    if action.direction != FORWARD:
        return Move(Next.GIVE_UP, now, kind)
    step = state.steps[action.step]
    if len(step.instead) > action.choice and not _declined(action):
        return Move(Next.INSTEAD, now)
    if step.optional and not (step.each is not None and action.item is None):
        return Move(Next.SKIP, now)  # a list that could not be gone over is no item of it
    if step.path and savepoint_of(state, step) is not None:
        return Move(Next.FAIL, now, cause)
    if state.past_pivot:
        return Move(Next.GIVE_UP, now, "exhausted")  # there is no way back
    return Move(Next.FAIL, now, cause)


def savepoint_of(state: RunState, step: StepSpec) -> str | None:
    """The innermost savepoint that a step can fail back to; behind a pivot there is none."""
    for name, alternative in reversed(step.path):
        passed = any(is_final(state, one) for one in state.steps if (name, False) in one.path)
        if not alternative and name not in state.savepoints and not passed:
            return name
    return None


def _declined(action: Action) -> bool:
    """By people: what they refused, or did not approve in time, is not done in another way."""
    return action.approval is not None and not action.attempts


def _in_time(action: Action, now: float) -> bool:
    """The next sending would be before the action's own deadline."""
    return action.deadline_at is None or max(now, action.due) < action.deadline_at


def _absent(state: RunState, action: Action, contract: ContractSpec, now: float) -> Move:
    """Proven not to have happened: again under the same key, as far as the provider keeps it."""
    if action.again == "no" or not _in_time(action, now):
        return _spent(state, action, now, "attempts", "undo_exhausted")
    if _kills(action, contract):
        return Move(Next.GIVE_UP, now, "crashed")
    if action.again == "new":
        if _may_renew(action, contract):
            return Move(Next.RENEW, action.due)
        return _spent(state, action, now, "attempts", "undo_exhausted")
    if action.resends >= contract.retry.most_resends:
        return _spent(state, action, now, "attempts", "undo_exhausted")
    if _in_life(action, contract, now):
        return Move(Next.SEND, action.due)
    if (at := _next_reading(action, contract)) is not None:
        return Move(Next.PROBE, at)  # the proof is too old: read again
    if _may_renew(action, contract):
        return Move(Next.RENEW, action.due)  # the key may be forgotten: it is of no more use
    step = state.steps[action.step]
    goes_on = step.optional or len(step.instead) > action.choice
    if action.direction == FORWARD and not goes_on:
        return Move(Next.GIVE_UP, now, "exhausted")
    return _spent(state, action, now, "attempts", "undo_exhausted")


def _may_renew(action: Action, contract: ContractSpec) -> bool:
    """One more key may be used without a person: by declared policy, or where keys are ignored."""
    most = contract.retry.generations
    if action.state == "absent" and not contract.provider.honours_keys:
        most = max(most, contract.retry.most_resends + 1)
    return action.generation < most


def _unknown(
    state: RunState, action: Action, step: StepSpec, contract: ContractSpec, now: float
) -> Move:
    """It may have happened. Never taken as failed, never repeated blindly."""
    if action.conflict:
        return Move(Next.GIVE_UP, now, "conflict")
    resend = _may_resend(state, action, step, contract, now)
    if resend and contract.probe and not action.asked:
        return Move(Next.PROBE, action.probe_due)  # asking comes first, and may save the sending
    if resend and action.last_answer != "in_progress":
        return Move(Next.SEND, action.due)
    if (at := _next_reading(action, contract)) is not None:
        return Move(Next.PROBE, at)
    bound = under_way(contract)
    if bound is not None and _blind(state, action, step):
        if action.running:
            return Move(Next.AWAIT, now + contract.timeout)
        return Move(Next.BLIND, action.last_until + bound)
    return Move(Next.GIVE_UP, now, "crashed" if _kills(action, contract) else "unknown")


def _blind(state: RunState, action: Action, step: StepSpec) -> bool:
    """The run winds down and the compensation of this action works without a receipt."""
    return (
        action.direction == FORWARD
        and winds_down(state, step)
        and step.compensation is not None
        and not step.compensation.needs_receipt
    )


def _next_reading(action: Action, contract: ContractSpec) -> float | None:
    """When to ask again, so that an absence can become evidence; `None` if asking is used up."""
    left = contract.retry.most_probes - action.probes
    if not contract.probe or left <= 0:
        return None
    visible_after = contract.provider.visible_after
    if action.first_absent is not None and visible_after is not None:
        return max(action.first_absent + visible_after, action.probe_due)
    bound = absence_bound(action, contract.provider)
    if bound is None or left > 1:
        return action.probe_due
    if bound == inf:
        return action.probe_due + contract.retry.longest  # a call has still not returned
    return max(action.probe_due, bound)  # the last one must be able to count


def _may_resend(
    state: RunState, action: Action, step: StepSpec, contract: ContractSpec, now: float
) -> bool:
    used_up = action.resends >= contract.retry.most_resends and not action.interrupted
    if used_up or _kills(action, contract) or not _in_time(action, now):
        return False
    if action.direction == FORWARD and winds_down(state, step) and step.irreversible:
        return False  # winding down, and there would be no way back
    return _in_life(action, contract, now)


def _kills(action: Action, contract: ContractSpec) -> bool:
    """So many processes have died under its calls in a row that it may be the cause."""
    return action.crashes >= contract.retry.crashes


def _in_life(action: Action, contract: ContractSpec, now: float) -> bool:
    """A resend now is received while the provider still knows the key of the first landing."""
    provider = contract.provider
    if provider.key_life is None:
        return False
    margin = provider.late_until
    if margin is None:
        margin = provider.in_flight
    if margin is None:
        margin = provider.key_life / 2
    send_by = max(now, action.due) + contract.timeout
    return send_by + margin < action.first_at + provider.key_life
