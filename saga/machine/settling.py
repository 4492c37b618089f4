"""What becomes known of an action, applied to it: its attempts, its proof, its rest."""

from __future__ import annotations

from saga.machine.action_events import (
    Absent,
    Landed,
    LandedLate,
    NotSent,
    Probed,
    Refused,
    Renewed,
    Satisfied,
    Sending,
    Undone,
    Unknown,
)
from saga.machine.state import FORWARD, UNDO, Action, Attempt, RunState, step_of
from saga.machine.steps import item_done, whole_pivot

__all__ = [
    "absent",
    "landed",
    "landed_late",
    "not_sent",
    "probed",
    "refused",
    "renewed",
    "satisfied",
    "sending",
    "settle",
    "skipped",
    "stop_watching",
    "touch",
    "undone",
    "unknown",
]


def sending(action: Action, event: Sending, at: float) -> None:
    if action.attempts == 0:
        action.first_at = at
    if (action.open or action.again) and action.wish != "same" and not action.interrupted:
        action.resends += 1
    action.attempts = event.attempt
    action.open[event.attempt] = Attempt(event.attempt, at, event.send_by, event.threaded)
    _may_leave_until(action, event.send_by)
    action.state, action.wish = "sending", None
    # Whatever was read before, this attempt can land after it.
    action.asked, action.last_answer, action.first_absent = False, "", None
    action.probes, action.answers, action.probe_due = 0, 0, 0.0


def _may_leave_until(action: Action, until: float) -> None:
    """The last moment at which a byte could leave; a straggler can come as much later."""
    if until > action.last_until:
        if action.watch is not None:
            action.watch += until - action.last_until
        action.last_until = until


def landed(state: RunState, action: Action, event: Landed) -> None:
    action.receipt, action.error = event.receipt, None
    if event.source == "signal":
        action.receipt = state.signals[action.step].payload
    before = action.state
    settle(state, action, "landed")
    if action.direction != FORWARD:
        return
    if before != "skipped":
        item_done(state, action.step)
    if step_of(state.steps, action).irreversible:
        state.past_pivot = True
    whole_pivot(state, action.step)


def satisfied(state: RunState, action: Action, event: Satisfied) -> None:
    """Nothing was done, and nothing is left to do: it is passed over with its evidence."""
    action.evidence, action.error = event.evidence, None
    skipped(state, action)


def skipped(state: RunState, action: Action) -> None:
    """The run goes on as if the step had nothing to do."""
    settle(state, action, "skipped")
    item_done(state, action.step)
    whole_pivot(state, action.step)


def refused(state: RunState, action: Action, event: Refused) -> None:
    action.refusals += 1
    action.crashes = 0
    action.error, action.due = event.error, event.due
    if event.settles:
        action.open.clear()
    else:
        action.open.pop(event.attempt, None)
    if action.open:
        _still_open(action)
    else:
        settle(state, action, "refused")


def not_sent(action: Action, event: NotSent) -> None:
    action.open.pop(event.attempt, None)
    action.not_sent += 1
    action.crashes = 0
    action.due = event.due
    if not action.refusals:
        action.error = event.error
    if action.open:
        _still_open(action)
    elif action.refusals:
        action.state = "refused"  # by another attempt, and nothing is under way any more
    else:
        # Once proven absent it stays so: the rules of sending again go on from that proof.
        action.state = "absent" if action.again else "not_sent"


def unknown(action: Action, event: Unknown) -> None:
    attempt = action.open.get(event.attempt)
    if attempt is not None:
        attempt.in_flight, attempt.running = False, event.running
        attempt.interrupted = bool(event.interrupted)
        _may_leave_until(action, event.until)
    action.repeats = action.repeats or event.repeats
    if event.interrupted == "crash":
        action.crashes += 1
    elif not event.interrupted:
        action.crashes = 0
    action.error, action.due = event.error, event.due
    action.conflict = action.conflict or event.conflict
    action.first_absent = None
    _still_open(action)


def _still_open(action: Action) -> None:
    """Some attempt is not settled: in flight, or unknown."""
    flying = any(attempt.in_flight for attempt in action.open.values())
    action.state = "sending" if flying else "unknown"


def probed(state: RunState, action: Action, event: Probed) -> None:
    action.asked, action.last_answer = True, event.answer
    action.probe_due = event.due
    if action.wish == "probe":
        action.wish = None
    if event.answer == "in_progress":
        action.first_absent = None
    action.answers += 1
    if event.counted and action.first_absent is None:
        action.first_absent = event.started
    if action.ends_watch(event.started):
        action.unseen += event.spent
    else:
        action.probes += event.spent
    touch(state, action)


def absent(state: RunState, action: Action, event: Absent) -> None:
    # Reading again, since the first proof grew too old, has its limit too.
    action.probes = action.probes + 1 if action.state == "absent" else 0
    action.first_at = max(action.first_at, event.read_at)
    action.undone = event.source == "undo"
    if event.source == "person":
        action.crashes = 0  # who says so has seen to it
    settle(state, action, "refused" if action.refusals else "absent")
    action.again = event.again
    _watch(state, action, event.watch)


def _watch(state: RunState, action: Action, until: float | None) -> None:
    if until is not None:
        action.watch = until
        state.watched[action.key] = action


def stop_watching(state: RunState, action: Action) -> None:
    action.watch = None
    if action.wish == "probe":
        action.wish = None
    state.watched.pop(action.key, None)


def landed_late(state: RunState, action: Action, event: LandedLate) -> None:
    action.receipt, action.error, action.late = event.receipt, None, True
    settle(state, action, "landed")
    if step_of(state.steps, action).undo == "compensation":
        state.strays[action.key] = action


def renewed(action: Action, event: Renewed, at: float) -> None:
    action.not_sent = action.resends = action.probes = action.crashes = 0
    action.wish, action.due, action.probe_due = event.again, at, at
    action.refusals, action.conflict, action.deadline_at = 0, False, event.deadline_at
    action.first_at = max(action.first_at, event.read_at)


def undone(state: RunState, action: Action, event: Undone) -> None:
    if action.direction == UNDO:
        action.receipt, action.error = {"evidence": event.evidence}, None
        settle(state, action, "landed")
        _watch(state, action, event.watch)
    else:
        action.undone = True
        settle(state, action, "absent")
        _watch(state, action, event.watch)


def settle(state: RunState, action: Action, name: str) -> None:
    """Every attempt is accounted for. Only what landed or was accepted needs no more looking at."""
    action.state, action.wish, action.first_absent = name, None, None
    action.open.clear()
    if name in ("landed", "accepted", "skipped"):
        state.rest(action)
    if name in ("landed", "accepted"):
        stop_watching(state, action)


def touch(state: RunState, action: Action) -> None:
    """What is shown of an open case has changed: a verdict must name the new version."""
    if action.case is not None:
        state.cases[action.case].version += 1
