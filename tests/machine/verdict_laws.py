"""Law 11: a verdict means what was shown with the version of the case that it names."""

from __future__ import annotations

from typing import TypeAlias

from saga.definition.spec import SagaSpec
from saga.machine.commands import Command, Resolve
from saga.machine.state import RunState
from saga.machine.verdicts import verdicts
from tests.machine.world import LawBroken

__all__ = ["Shown", "came_true", "shown_verdicts", "still_meant", "what_was_said"]

Shown: TypeAlias = dict[tuple[str, int], dict[str, str]]


def shown_verdicts(spec: SagaSpec, state: RunState, now: float) -> Shown:
    """What a person reads of each open case, by its id and version: what each verdict means.

    One that is not possible any more is turned down by name. How much of a budget is needed is
    left out: whoever gives more than that has said how much.
    """
    cases = state.cases.values() if state.open_cases else ()
    return {
        (case.id, case.version): _without_amounts(verdicts(spec, state, case, now))
        for case in cases
        if case.state == "open"
    }


def still_meant(shown: Shown, now: Shown) -> None:
    """As long as the version of a case stands, its verdicts mean what they meant."""
    for seen, offered in now.items():
        before = shown.get(seen, {})
        changed = [name for name in offered if before.get(name, offered[name]) != offered[name]]
        if changed:
            raise LawBroken("11", f"{seen}: {changed} meant {before}, and now {offered}")


def what_was_said(spec: SagaSpec, state: RunState, command: Command) -> str:
    """What a person was told that would follow."""
    case = state.cases.get(command.case) if isinstance(command, Resolve) else None
    if case is None or not isinstance(command, Resolve):
        return ""
    return verdicts(spec, state, case, command.at).get(command.verdict, "")


def came_true(said: str, command: Command, after: RunState) -> None:
    """What is to be undone with the rest is; that it goes on may end with another branch."""
    if not isinstance(command, Resolve):
        return
    action = after.actions[after.cases[command.case].key]
    forward = after.phase == "running" or after.outcome == "completed"
    if said.endswith("undone with the rest.") and forward and action.step not in after.way_back:
        raise LawBroken("11", f"{command.verdict} of {action.key} meant {said!r}")


def _without_amounts(offered: dict[str, str]) -> dict[str, str]:
    return offered | ({"raise": ""} if "raise" in offered else {})
