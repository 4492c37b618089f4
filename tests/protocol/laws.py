"""The laws of section 8, checked against the truth that only the model knows.

A law about a transition is checked where it happens and adds to `World.broken`; a law about rest is
checked where nothing is left to do. Law 10 (one open case per action) and law 13 (what follows is
committed with it) hold by construction, since an action has one field for its case and `follow` is
part of every record; law 12 is `takes_cannot_say_for_absent`; law 14 and 15 are not about this
protocol. The wording of each law is the design's.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.names import Key
from tests.protocol.states import Action, Call, Landing, Look, State
from tests.protocol.world import World

__all__ = [
    "append_of_owner",
    "append_over_unread_record",
    "at_rest",
    "call_passes_check",
    "effect_lands",
    "first_byte",
    "transition",
    "undo_begins",
    "verdict_counts",
]


def append_of_owner(w: World, p: int) -> None:
    """Law 6: "An owner that lost its fence appends nothing as owner ..." """
    if w.run.owner != p or w.processes[p].fence != w.run.fence:
        w.broken.append("law 6: a fenced-out owner appends as owner")


def append_over_unread_record(w: World) -> None:
    """Law 5: "Sequence and state version have no gap." """
    w.broken.append("law 5: an append overwrites a record that it has not read")


def call_passes_check(w: World, p: int, call: Call) -> None:
    """Law 6: "... and passes no check before a call after its local lease end." Section 4: "No call
    is started after `send_by`." """
    if w.run.owner != p or w.processes[p].fence != w.run.fence:
        w.broken.append("law 6: a call passes its check after the lease has ended")
    if call.left < 0:
        w.broken.append("section 4: a call is started after send_by")


def first_byte(w: World, p: int, call: Call) -> None:
    """Law 1: "No call without a durable intent and sending." """
    action = w.actions.get(call.key)
    if action is None or action.attempts < call.attempt:
        w.broken.append("law 1: a byte leaves without a durable sending")
    if w.setting.stricter and w.processes[p].fence != w.run.fence:
        w.broken.append("stricter than law 6: a byte leaves after the lease has ended")
    if w.setting.stricter and call.left < 0:
        w.broken.append("stricter than section 4: a byte leaves after send_by, not only a call")


def effect_lands(w: World, key: Key) -> None:
    """Law 2: "At most one effect per key where the provider honours keys; at most one landed
    generation per action, except one that landed after it was proven absent (a promise broken by
    the provider or by a sender that slept): that one has an undo under its own key, or a case."

    The end of the sentence is law 3 here. The exception is needed only where keys are ignored:
    where they are honoured, the late one is the same effect.
    """
    if len(w.kept(key).landings) > 1:
        w.broken.append("law 2: two effects under one key")
    excused = not w.setting.keys and not w.setting.stricter
    generations = [
        other
        for other, kept in w.ledger.items()
        if bool(other.undo) == bool(key.undo)
        and other.action == key.action
        and any(not (landing.broken and excused) for landing in kept.landings)
    ]
    if len(generations) > 1:
        w.broken.append("law 2: two generations of one action landed")


def undo_begins(w: World, undo: Key) -> None:
    """Law 9: "No undo while a transitive successor is unknown." The undo of a superseded
    generation waits for nobody."""
    if w.superseded(undo.forward):
        return
    waiting = list(w.setting.behind(undo.step))
    while waiting:
        step = waiting.pop()
        waiting += w.setting.behind(step)
        action = w.actions.get(w.newest(step))
        if action is not None and action.status == "open":
            w.broken.append("law 9: an undo begins while a successor is unknown")


def verdict_counts(w: World, look: Look) -> None:
    """Law 11: "A verdict binds to the case version and digest it was shown." """
    if not look.fresh:
        w.broken.append("law 11: a verdict counts on a case that has changed since it was shown")


def transition(before: State, w: World) -> None:
    """Law 7: "Phase and outcome of an ended run never change." Law 8: "`compensated` is recorded
    only when no forward action is unknown and every effect then known to have landed has a landed
    undo or declares nothing to undo"; so is `settled`, what a person accepted aside."""
    by_verdict = before.budget.verdict != w.budget.verdict
    if (before.run.phase, w.run.phase) == ("running", "compensating") and not by_verdict:
        _turns_round(w)
    if w.setting.stricter and w.run.outcome == "compensated":
        _all_is_undone(w)
    ended = (before.run.phase, before.run.outcome)
    if ended[0] == "ended" and (w.run.phase, w.run.outcome) != ended:
        w.broken.append("law 7: an ended run changes")
    if ended[0] == "ended" or w.run.outcome not in ("compensated", "settled"):
        return
    for key, action in w.actions.items():
        if not key.undo and action.status == "open":
            w.broken.append("law 8: the run ends while a forward action is unknown")
        if not key.undo and action.status == "landed" and not w.taken_back(key):
            w.broken.append("law 8: the run ends while a known effect has no landed undo")


def _turns_round(w: World) -> None:
    """Section 4: "While an irreversible step is sending or unknown, cancel and deadline are
    recorded and take effect only if it turns out not landed." """
    for step in w.setting.irreversible:
        action = w.actions.get(w.newest(step))
        if action is not None and action.status == "open":
            w.broken.append("section 4: a run winds down while an irreversible step is under way")


def _all_is_undone(w: World) -> None:
    """Law 8 without its "then": also of what is found after the end."""
    for key, action in w.actions.items():
        if not key.undo and action.status == "landed" and not w.taken_back(key):
            w.broken.append(
                "stricter than law 8: compensated, and a known effect is not undone yet"
            )


def at_rest(w: World) -> Iterator[str]:
    """Laws 3 and 4, where nothing is left to do for anybody but a person."""
    if w.run.phase != "ended" and not any(action.case for action in w.actions.values()):
        yield "law 4: stuck: not ended, nothing due, no case"
    for key, kept in w.ledger.items():
        for index, landing in enumerate(kept.landings):
            if not _is_accounted_for(w, key, index, landing):
                what = "undo" if key.undo else "forward effect"
                which = "second " if index else ""
                yield f"law 3: a landed {which}{what} is nowhere ({w.run.outcome or 'not ended'})"
    if w.run.outcome == "completed":
        for step in range(1, w.setting.steps + 1):
            if not w.kept(w.newest(step)).landings:
                yield "a completed run lacks an effect"


def _is_accounted_for(w: World, key: Key, index: int, landing: Landing) -> bool:
    """Law 3: "At rest, every landed effect is in a completed step, or undone, or in an open case,
    or accepted by a named person." """
    action = w.actions.get(key)
    if landing.fate or action is None:
        return bool(landing.fate)
    if action.case or action.status == "accepted":
        return True
    recorded = action.status == "landed" and action.receipt == index
    if key.undo:
        return recorded and index == 0
    if any(_is_held(w.actions[undo]) for undo in w.undos_of(key)):
        return True
    if w.run.phase == "ended":
        return recorded and w.run.outcome == "completed" and not w.superseded(key)
    return recorded and any(other.case for other in w.actions.values())


def _is_held(undo: Action) -> bool:
    return bool(undo.case) or undo.status == "accepted"
