"""Turns: runs of one resource go one after the other.

A run has the turn from the record that takes it to the one that ends or parks it; whoever claims
the run takes it, and only while nobody has it. Without it nothing goes forward: no step begins, no
forward action is sent, not even again. Probes, verdicts, deadlines and all undos need no turn, so a
run that winds down without one never asks for it.
"""

from __future__ import annotations

from saga.machine.commands import Park, Rejected, Rejection
from saga.machine.events import Event, Parked, TurnAsked, TurnTaken
from saga.machine.state import RunState

__all__ = ["asked_again", "parked", "taken", "turned"]


def turned(state: RunState, event: TurnTaken | Parked | TurnAsked, at: float) -> None:
    """Keep what an event says of the turn."""
    standing = {"turn_taken": "holds", "parked": "parked", "turn_asked": "waits"}[event.kind]
    gone = event.kind == "parked" and state.phase != "running"
    state.turn, state.turn_at = None if gone else standing, at


def taken(state: RunState) -> tuple[Event, ...] | Rejected:
    """The turn is free, and this is the run that it is for."""
    if state.turn != "waits":
        return Rejected(Rejection.NOT_DUE, f"run {state.run_id} does not wait for a turn")
    return (TurnTaken(),)


def parked(state: RunState, command: Park) -> tuple[Event, ...] | Rejected:
    """A person gives the turn of a run to others, while its case is open."""
    if state.phase == "ended":
        return Rejected(Rejection.ENDED, f"run {state.run_id} has ended as {state.outcome}")
    if state.turn == "parked":
        return Rejected(Rejection.NOTHING_NEW, f"run {state.run_id} is parked already")
    if state.turn != "holds":
        which = "is exclusive about nothing" if state.resource is None else "has not got the turn"
        return Rejected(Rejection.NOT_POSSIBLE, f"run {state.run_id} {which}")
    if not state.open_cases:
        text = f"run {state.run_id} waits for nobody: only a run with an open case can be parked"
        return Rejected(Rejection.NOT_POSSIBLE, text)
    for action in state.active.values():
        if action.running or any(attempt.in_flight for attempt in action.open.values()):
            name = state.steps[action.step].name
            text = f"a call of step {name} is in flight; first it must be settled"
            return Rejected(Rejection.NOT_POSSIBLE, text)
    return (Parked(reason=command.reason, actor=command.actor),)


def asked_again(state: RunState) -> list[Event]:
    """What was parked has no open case any more: it needs the turn again to go forward."""
    return [TurnAsked()] if state.turn == "parked" and not state.open_cases else []
