"""Asking something of a run from outside: a cancel, a report. It answers as a run, or an error."""

from __future__ import annotations

from collections.abc import Callable

from saga.errors import Conflict, NotAllowed, SagaError
from saga.inquiries.runs import noticed
from saga.inquiries.source import Source
from saga.journal.transact import ask
from saga.machine.action_events import DecisionRefused
from saga.machine.commands import Command, Rejected, Rejection
from saga.machine.state import Action
from saga.views import Run, run_view

__all__ = ["asked"]


def asked(
    source: Source, run_id: str, letter: Callable[[float], Command], *, unchanged: Rejection
) -> Run:
    """The run after a command. Turned down for `unchanged`, it is given as it is.

    Raises `UnknownRun`, `NotAllowed`, `Conflict`, `Tampered`.
    """
    answered = ask(source.database(), source.specs(), run_id, letter)
    if answered.rejected is not None and answered.rejected.reason is not unchanged:
        raise _refusal(answered.rejected)
    for event in answered.events:
        if isinstance(event, DecisionRefused):
            action = answered.history.state.actions[event.key]
            raise NotAllowed(event.why, f"{_LATE[event.why]} ({_by_whom(action)})")
    return noticed(source, run_view(answered.history))


def _by_whom(action: Action) -> str:
    """Who has decided what; what came too late is on record as such."""
    given = action.approval.given if action.approval is not None else {}
    said = [f"approved by {actor}" for actor in given]
    if action.error is not None and action.error["type"].startswith("Approval"):
        said.append(f"{action.error['type']}: {action.error['text']}")
    return "; ".join(said) or "by nobody"


_LATE = {
    "expired": "this approval has expired",
    "used_up": "this approval is used up: the action has been sent",
    "decided": "this approval has been decided",
    "stopped": "the run does not go forward any more",
}


def _refusal(rejected: Rejected) -> SagaError:
    if rejected.reason in (Rejection.WRONG_DIGEST, Rejection.STALE_CASE):
        return Conflict(rejected.text)
    return NotAllowed(rejected.reason.value, rejected.text)
