"""Why the next items of an `Each` do not begin, and why one that has is not sent."""

from __future__ import annotations

from saga.definition.keys import place_of
from saga.definition.spec import StepSpec
from saga.inquiries.hold import Hold
from saga.journal.history import History
from saga.machine.items import holds
from saga.machine.state import FORWARD, Action

__all__ = ["items_hold", "sent_hold"]


def items_hold(history: History, step: StepSpec) -> Hold:
    """What holds back the items that have not begun: an unknown one, the batch, the limit."""
    progress, each = history.state.progress[step.index], step.each
    assert each is not None, step.name
    waiting = progress.size - len(progress.newest)
    unknown = _unknown(history, step)
    text = f"{waiting} of {progress.size} items of {step.name} have not begun"
    if unknown and each.on_unknown == "hold_all":
        reason = f"{unknown} unknown, and on_unknown is hold_all"
        freed_by = "whatever settles those"
    elif each.batch is not None and len(progress.newest) % each.batch == 0:
        reason = f"a batch of {each.batch} is done before the next one begins"
        freed_by = "the end of the batch that is under way"
    else:
        reason = f"at most {each.parallel} are under way at once"
        freed_by = "the end of one of them"
    return Hold(
        rule="items",
        text=f"{text}: {reason}",
        evidence=(f"{progress.done} are done, {len(progress.newest)} have begun",),
        freed_by=freed_by,
        step=step.name,
        direction=FORWARD,
    )


def sent_hold(history: History, action: Action) -> Hold | None:
    """What keeps an item that has an intent from being sent: an unknown one."""
    step = history.spec.steps[action.step]
    due = action.direction == FORWARD and action.state != "unknown" and action.case is None
    if step.each is None or not due or not holds(history.state, step, action.target):
        return None
    reason = f"{_unknown(history, step)} unknown"
    if step.each.on_unknown == "hold_target":
        reason = "an item about the same target is unknown"
    return Hold(
        rule="held",
        text=f"{place_of(step.name, action.item)} is not sent: {reason}, and on_unknown is "
        f"{step.each.on_unknown}",
        freed_by="whatever settles that",
        step=step.name,
        direction=FORWARD,
    )


def _unknown(history: History, step: StepSpec) -> int:
    items = history.state.progress[step.index].items
    return 0 if items is None else sum(map(len, items.unknown.values()))
