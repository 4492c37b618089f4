"""Approvals: what is bound when one is asked for, who may decide, and what a decision means.

An approval is for one frozen intent: the record that froze it, its digest, key, target and
generation, the scope and policy that asked for it, and the observation that justified it. Anything
else needs a new one. Nothing that is missing counts as approved.
"""

from __future__ import annotations

from collections.abc import Iterator

from saga.definition.canonical import digest
from saga.definition.spec import ANYBODY, ApprovalSpec, SagaSpec
from saga.machine.action_events import ApprovalAsked, Approved, DecisionRefused, Refused
from saga.machine.commands import Decide, Rejected, Rejection
from saga.machine.events import Event
from saga.machine.forward import leads_on, stopped
from saga.machine.state import Action, Asked, RunState, step_of

__all__ = ["asked_for", "decided", "expired_approvals", "open_approvals"]


def asked_for(
    spec: SagaSpec, state: RunState, approval: ApprovalSpec, key: str, version: int, at: float
) -> ApprovalAsked:
    """What the people are asked, bound to the intent of `key` that record `version` freezes."""
    source, reference, observed = "input", state.run_id, state.input
    if approval.observed is not None:
        action = state.newest(approval.observed)
        assert action is not None, key
        source, reference, observed = (
            step_of(spec.steps, action).effect.label,
            action.key,
            action.receipt,
        )
    return ApprovalAsked(
        key=key,
        version=version,
        by=list(approval.by),
        people=approval.people,
        scope=approval.scope,
        policy=approval.policy,
        source=source,
        reference=reference,
        observation=digest(observed),
        expires_at=at + approval.expires,
    )


def decided(spec: SagaSpec, state: RunState, command: Decide) -> list[Event] | Rejected:
    """What a person's decision means; one that comes too late is recorded and changes nothing."""
    position = spec.positions.get(command.step)
    action = None if position is None else state.newest(position)
    if action is None or action.approval is None:
        asks = any(one.name == command.step and one.approval for one in spec.steps)
        text = "does not wait for an approval yet" if asks else "asks for no approval"
        return Rejected(Rejection.UNKNOWN_ACTION, f"{command.step} {text}; see: saga approvals")
    asked = action.approval
    if (command.version, command.digest) != (asked.version, action.digest):
        text = f"the approval of {command.step} is for something else than what was shown"
        return Rejected(Rejection.STALE_CASE, f"{text}; see: saga approvals")
    if (ANYBODY not in asked.by and command.actor not in asked.by) or command.actor == state.actor:
        text = f"{command.actor} may not decide this, only {', '.join(asked.by)}"
        if command.actor == state.actor:
            text = f"{command.actor}, who started the run, may not decide this: ask somebody else"
        return Rejected(Rejection.NOT_POSSIBLE, text)
    if (late := _too_late(state, action, command.at)) is not None:
        if command.actor in asked.late:
            text = f"{late}: what {command.actor} decided is on record as too late"
            return Rejected(Rejection.NOT_POSSIBLE, text)
        return [
            DecisionRefused(
                key=action.key,
                actor=command.actor,
                approve=command.approve,
                reason=command.reason,
                why=late,
            )
        ]
    if command.approve and command.actor in asked.given:
        return Rejected(Rejection.NOTHING_NEW, f"{command.actor} has approved it already")
    if command.approve:
        return [Approved(key=action.key, actor=command.actor, reason=command.reason)]
    error = {"type": "ApprovalRefused", "text": f"{command.actor}: {command.reason}", "leaves": []}
    return [Refused(key=action.key, attempt=0, error=error, settles=True, due=command.at)]


def _too_late(state: RunState, action: Action, now: float) -> str | None:
    """Why a decision on this approval changes nothing any more: expired, used up and the others."""
    assert action.approval is not None, action.key
    if action.attempts:
        return "used_up"
    if action.state != "intended":
        expired = action.error is not None and action.error["type"] == "ApprovalExpired"
        return "expired" if expired else "decided"
    if now >= action.approval.expires_at:
        return "expired"
    if action.approval.complete:
        return "decided"
    return None if leads_on(state, step_of(state.steps, action)) else "stopped"


def open_approvals(state: RunState) -> Iterator[tuple[Action, Asked]]:
    """What people are still to decide on; nothing of it once no new sending starts any more."""
    for action in () if stopped(state) else state.active.values():
        asked = action.approval
        if asked is None or action.state != "intended" or asked.complete:
            continue
        if leads_on(state, step_of(state.steps, action)):
            yield action, asked


def expired_approvals(state: RunState, now: float) -> list[Event]:
    """What was not approved and sent in time has failed; nobody has refused it."""
    events: list[Event] = []
    for action in state.moving.values():
        asked = action.approval
        if asked is None or action.state != "intended" or asked.expires_at > now:
            continue
        missing = asked.people - len(asked.given)
        text = f"{missing} of {asked.people} approvals are missing"
        text = text if missing else "it was approved, and not sent in time"
        error = {"type": "ApprovalExpired", "text": text, "leaves": []}
        events.append(Refused(key=action.key, attempt=0, error=error, settles=True, due=now))
    return events
