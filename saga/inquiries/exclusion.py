"""What the turn of an exclusive run means for it: who is before it, and what frees the resource."""

from __future__ import annotations

from collections.abc import Iterator

from saga.inquiries.hold import Hold, clock_time
from saga.journal.history import History
from saga.journal.turns import Line
from saga.machine.state import RunState
from saga.views import moment

__all__ = ["turn_facts", "turn_holds"]


def turn_holds(history: History, line: Line | None) -> Iterator[Hold]:
    """Why a run does not go forward that needs a turn to do so."""
    state = history.state
    if state.turn == "parked":
        yield Hold(
            rule="parked",
            text=f"it is parked: others may have the turn of {state.resource} until its case is "
            "closed",
            evidence=(f"parked at {clock_time(state.turn_at)}",),
            freed_by="the verdict on its case; then it stands in line again",
        )
    elif state.turn == "waits":
        yield _waits(state, line)


def _waits(state: RunState, line: Line | None) -> Hold:
    holder = None if line is None else line.holder
    before = 0 if line is None else line.before
    text = f"it waits for the turn of {state.resource}"
    evidence = [f"it waits since {clock_time(state.turn_at)}"]
    freed_by = "an orchestrator gives it the turn by itself"
    if line is not None and holder is not None:
        text += f", which run {holder} has since {clock_time(line.since)}"
        freed_by = f"the end of run {holder} (see: saga why {holder}), or, while that waits for a "
        freed_by += f"person: saga park {holder} --reason TEXT"
    if before:
        stand = "1 run stands" if before == 1 else f"{before} runs stand"
        evidence.append(f"{stand} in line before it")
        freed_by += "; then those before it"
    deadline = None if state.past_pivot else state.deadline_at
    return Hold(
        rule="turn",
        text=text,
        evidence=tuple(evidence),
        next_at=moment(deadline),
        freed_by=freed_by,
    )


def turn_facts(state: RunState) -> list[str]:
    """What others wait for."""
    if state.turn != "holds":
        return []
    return [f"it has the turn of {state.resource} since {clock_time(state.turn_at)}"]
