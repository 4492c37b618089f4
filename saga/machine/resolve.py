"""A person's verdict on a case: whether it is possible, and what it means.

A verdict binds to the version of the case that was shown. Saying that something did not happen, or
sending it again, needs a look at the provider from after the last moment at which it could still
arrive; until then it is refused as too early, for a person as for the machine.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf

from saga.definition.spec import SagaSpec
from saga.machine.action_events import Absent, Accepted, Landed, ProbeAsked, Renewed, Undone
from saga.machine.budgets import raised
from saga.machine.commands import Rejected, Rejection, Resolve
from saga.machine.events import CaseClosed, Event
from saga.machine.follow import winding_down
from saga.machine.forward import is_on_path
from saga.machine.state import FORWARD, Action, Case, RunState, step_of
from saga.machine.verdicts import is_about_a_straggler, not_before, out_of_time, verdicts
from saga.machine.watching import watch_until
from saga.machine.ways import contract_of

__all__ = ["resolved"]


def resolved(spec: SagaSpec, state: RunState, command: Resolve) -> list[Event] | Rejected:
    """The events of a verdict, the closing of its case included."""
    case = state.cases.get(command.case)
    if case is None:
        return Rejected(Rejection.UNKNOWN_CASE, f"there is no case {command.case}")
    action = state.actions[case.key]
    refusal = _refusal(spec, state, case, action, command)
    if refusal is not None:
        return refusal
    if command.verdict == "probe":
        return [ProbeAsked(key=action.key)]
    closed = CaseClosed(
        case=case.id,
        verdict=command.verdict,
        actor=command.actor,
        reason=command.reason,
        evidence=command.evidence,
        looked_at=command.looked_at,
    )
    if case.kind == "late" and not is_about_a_straggler(action):
        return [closed, *_undo_is_done(spec, state, action, command)]
    return [closed, *_meaning(spec, state, action, command)]


def _undo_is_done(spec: SagaSpec, state: RunState, action: Action, command: Resolve) -> list[Event]:
    """Who has taken back by hand what was to be undone without a receipt has done that undo."""
    undo = state.undo_of(action)
    pending = undo is not None and undo.state not in ("landed", "accepted", "sending")
    if undo is None or command.verdict != "undone" or not pending:
        return []
    watch = watch_until(spec, undo) if undo.state == "unknown" else None
    return [Undone(key=undo.key, evidence=command.evidence or "", watch=watch)]


def _refusal(
    spec: SagaSpec, state: RunState, case: Case, action: Action, command: Resolve
) -> Rejected | None:
    if case.state != "open":
        who = f"by {case.actor}: {case.verdict}" if case.verdict else "by evidence"
        return Rejected(Rejection.CASE_CLOSED, f"case {case.id} is closed, {who}")
    if command.case_version != case.version:
        return Rejected(
            Rejection.STALE_CASE,
            f"case {case.id} is at version {case.version}, not {command.case_version}: "
            "something became known since it was shown, or the run has turned",
        )
    ends = out_of_time(spec, state, action)
    if ends is not None and command.looked_at < ends <= command.at:
        text = f"case {case.id} was shown before {_utc(ends)}, when the run was out of time"
        return Rejected(Rejection.STALE_CASE, f"{text}: verdicts mean something else by now")
    offered = verdicts(spec, state, case, command.at)
    if command.verdict not in offered:
        return Rejected(
            Rejection.NOT_POSSIBLE,
            f"{command.verdict!r} is not possible here; possible: {', '.join(offered)}",
        )
    if command.verdict == "landed" and command.receipt is None:
        return Rejected(Rejection.NEEDS_RECEIPT, "landed needs the receipt that proves it")
    if command.verdict == "undone" and not command.evidence:
        return Rejected(Rejection.NEEDS_EVIDENCE, "undone needs evidence, in words")
    if command.verdict == "raise":
        fault = raised(spec, state, action, command.evidence)
        if isinstance(fault, str):
            return Rejected(Rejection.NEEDS_EVIDENCE, fault)
    if command.looked_at > command.at:
        return Rejected(Rejection.NOT_LOOKED, "looked_at is in the future")
    return _look(not_before(spec, state, case, command.verdict), command)


def _look(bound: float | None, command: Resolve) -> Rejected | None:
    if bound is None:
        return None
    if bound == inf:
        text = "a call of this action is still running, until it returns or its process ends"
        return Rejected(Rejection.TOO_EARLY, f"too early: {text}")
    until = _utc(bound)
    if command.at < bound:
        return Rejected(Rejection.TOO_EARLY, f"too early, until {until}: it could still arrive")
    if command.looked_at < bound:
        return Rejected(
            Rejection.NOT_LOOKED,
            f"look again: what you saw is from before {until}, when it could still arrive",
        )
    return None


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def _meaning(spec: SagaSpec, state: RunState, action: Action, command: Resolve) -> list[Event]:
    provider = contract_of(spec, action).provider
    turns = action.direction == FORWARD and state.phase == "running"
    turns = turns and is_on_path(state, step_of(spec.steps, action))
    who = command.reason, command.actor
    winding: list[Event] = [winding_down(spec, "person", action, *who)] if turns else []
    read_at = command.looked_at - (provider.visible_after or 0.0)
    match command.verdict:
        case "raise":
            limits = raised(spec, state, action, command.evidence)
            assert not isinstance(limits, str), limits
            return limits
        case "compensate":
            return winding
        case "retry":
            return _retried(spec, action, command, read_at)
        case "landed":
            return [Landed(key=action.key, attempt=0, receipt=command.receipt, source="person")]
        case "absent":
            again = "same" if provider.honours_keys else "new"
            return [_absent(spec, action, read_at, again)]
        case "undone":
            watch = watch_until(spec, action) if action.state == "unknown" else None
            undone = Undone(key=action.key, evidence=command.evidence or "", watch=watch)
            return [undone, *winding]
        case _:
            return [Accepted(key=action.key), *winding]


def _retried(spec: SagaSpec, action: Action, command: Resolve, read_at: float) -> list[Event]:
    contract = contract_of(spec, action)
    again = "same" if contract.provider.honours_keys and action.state != "refused" else "new"
    deadline_at = None if contract.deadline is None else command.at + contract.deadline
    renewed = Renewed(key=action.key, again=again, read_at=read_at, deadline_at=deadline_at)
    if action.state == "unknown" and again == "new":
        # The old key is left behind: on this person's word it did not happen.
        return [_absent(spec, action, read_at, "no"), renewed]
    return [renewed]


def _absent(spec: SagaSpec, action: Action, read_at: float, again: str) -> Absent:
    watch = watch_until(spec, action)
    return Absent(key=action.key, source="person", read_at=read_at, again=again, watch=watch)
