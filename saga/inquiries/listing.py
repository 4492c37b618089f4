"""Why the next items of an `Each` do not begin."""

from __future__ import annotations

from saga.definition.spec import StepSpec
from saga.inquiries.hold import Hold
from saga.journal.history import History
from saga.machine.state import FORWARD

__all__ = ["items_hold"]


def items_hold(history: History, step: StepSpec) -> Hold:
    """What holds back the items that have not begun: an unknown one, the batch, the limit."""
    progress, each = history.state.progress[step.index], step.each
    assert each is not None, step.name
    waiting = progress.size - len(progress.newest)
    unknown = 0 if progress.items is None else sum(map(len, progress.items.unknown.values()))
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
