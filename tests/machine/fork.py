"""A copy of a state that shares nothing that changes."""

from __future__ import annotations

from dataclasses import fields, replace
from operator import attrgetter

from saga.machine.progress import Progress, WayBack
from saga.machine.state import Action, Attempt, Case, RunState
from tests.machine.budget_laws import fork_spending

__all__ = ["fork"]

_of_action = attrgetter(*(one.name for one in fields(Action)))
_of_attempt = attrgetter(*(one.name for one in fields(Attempt)))
_of_case = attrgetter(*(one.name for one in fields(Case)))
_of_run = attrgetter(*(one.name for one in fields(RunState)))


def fork(state: RunState) -> RunState:
    """A copy that shares nothing that changes."""
    twin = RunState(*_of_run(state))
    twin.actions = {key: _fork_action(action) for key, action in state.actions.items()}
    twin.progress = [_fork_progress(one, twin.actions) for one in state.progress]
    twin.way_back = {
        step: _fork_way_back(one, twin.actions) for step, one in state.way_back.items()
    }
    twin.frontier, twin.standing = set(state.frontier), dict(state.standing)
    twin.savepoints = dict(state.savepoints)
    twin.watched = {key: twin.actions[key] for key in state.watched}
    twin.strays = {key: twin.actions[key] for key in state.strays}
    twin.active = {key: twin.actions[key] for key in state.active}
    twin.moving = {key: twin.actions[key] for key in state.moving}
    twin.begun = dict(state.begun)
    twin.signals = dict(state.signals)
    twin.ready = list(state.ready)
    twin.spending = fork_spending(state.spending)
    twin.cases = {key: Case(*_of_case(case)) for key, case in state.cases.items()}
    return twin


def _fork_progress(progress: Progress, actions: dict[str, Action]) -> Progress:
    twin = replace(progress)
    twin.newest = {item: actions[one.key] for item, one in progress.newest.items()}
    if progress.items is not None:
        unknown = {target: set(keys) for target, keys in progress.items.unknown.items()}
        twin.items = replace(progress.items, unknown=unknown, aside=set(progress.items.aside))
    return twin


def _fork_way_back(way_back: WayBack, actions: dict[str, Action]) -> WayBack:
    to_undo = {item: actions[one.key] for item, one in way_back.to_undo.items()}
    return replace(way_back, to_undo=to_undo, undoing=set(way_back.undoing))


def _fork_action(action: Action) -> Action:
    twin = Action(*_of_action(action))
    twin.open = {number: Attempt(*_of_attempt(one)) for number, one in action.open.items()}
    twin.others = list(action.others)
    if action.approval is not None:
        twin.approval = replace(
            action.approval, given=dict(action.approval.given), late=set(action.approval.late)
        )
    return twin
