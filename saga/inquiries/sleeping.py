"""What a run waits for while it belongs to nobody: a time, a signal, people who approve."""

from __future__ import annotations

from math import inf

from saga.inquiries.hold import Hold, clock_time
from saga.journal.history import History
from saga.machine.state import FORWARD, Action, Asked, step_of
from saga.machine.ways import Move
from saga.views import moment

__all__ = ["wait_hold"]


def wait_hold(history: History, action: Action, move: Move) -> Hold:
    """The hold of an action that is not called, or not yet."""
    step = step_of(history.spec.steps, action)
    if action.approval is not None:
        return _approval_hold(history, action, action.approval)
    signal = step.wait is not None and step.wait.signal
    text = f"{step.name} waits for a signal" if signal else f"{step.name} waits"
    if move.at < inf:
        text += (
            f", at most until {clock_time(move.at)}" if signal else f" until {clock_time(move.at)}"
        )
    freed = f"saga signal {history.state.run_id} {step.name} JSON --message-id ID"
    return Hold(
        rule="waits",
        text=text,
        next_at=moment(move.at) if move.at < inf else moment(history.state.deadline_at),
        freed_by=freed if signal else "that time",
        step=step.name,
        direction=FORWARD,
    )


def _approval_hold(history: History, action: Action, asked: Asked) -> Hold:
    name = step_of(history.spec.steps, action).name
    missing = asked.people - len(asked.given)
    return Hold(
        rule="approval",
        text=f"{name} waits for {missing} of {', '.join(asked.by)} to approve it, at most until "
        f"{clock_time(asked.expires_at)}",
        evidence=tuple(f"approved by {actor}" for actor in asked.given),
        next_at=moment(asked.expires_at),
        freed_by="saga approvals",
        step=name,
        direction=FORWARD,
    )
