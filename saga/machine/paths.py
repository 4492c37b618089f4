"""What stands at a path of a run's input, or of the receipt of one of its steps."""

from __future__ import annotations

from collections.abc import Sequence

from saga.machine.facts import Json
from saga.machine.state import RunState

__all__ = ["at_path", "within"]


def at_path(state: RunState, path: Sequence[str]) -> Json:
    """`("input", name, …)` or `(step, "receipt", name, …)`; `None` if nothing is there."""
    if path[0] == "input":
        return within(state.input, path[1:])
    action = state.newest(state.positions[path[0]])
    return None if action is None else within(action.receipt, path[2:])


def within(value: Json, names: Sequence[str]) -> Json:
    """What stands below `names` in a value; `None` if nothing is there."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
