"""What an ended run is still needed for: as long as it is, it must not be purged."""

from __future__ import annotations

from enum import StrEnum

from saga.definition.spec import SagaSpec
from saga.machine.bounds import key_lives_until
from saga.machine.state import RunState
from saga.machine.ways import contract_of

__all__ = ["Kept", "needed_for"]


class Kept(StrEnum):
    """Why a run is kept."""

    RUNNING = "running"  # it has not ended
    YOUNG = "young"  # it has not ended long enough ago
    OWNED = "owned"  # an orchestrator has it, or somebody writes to it
    CASE = "case"  # a person has not decided on it
    WATCH = "watch"  # a straggler may still be read, or is being undone
    KEY = "key"  # a provider may still honour a key of it, or something land under one
    DAMAGED = "damaged"  # it does not verify, or is set aside: it is evidence
    NEWER = "newer"  # only a newer version of saga can read it


def needed_for(spec: SagaSpec, state: RunState, now: float) -> Kept | None:
    """Why this ended run must be kept; `None` if nothing needs it any more."""
    if state.open_cases:
        return Kept.CASE
    if not state.rests:
        return Kept.WATCH
    for action in state.actions.values():
        if key_lives_until(action, contract_of(spec, action)) > now:
            return Kept.KEY
    return None
