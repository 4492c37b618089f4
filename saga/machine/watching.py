"""The watch for stragglers: what was settled as absent is read once more when none can come.

A request that was proven absent, given up by a person or undone while unknown may still land: its
sender slept, or a network kept it. Where the provider declares until when (`late_until`) and can be
asked, the action is read a last time after that; the run, ended or not, stays due until then. What
has landed is undone by itself, under the key written ahead for it, or becomes a case.
"""

from __future__ import annotations

from saga.definition.spec import SagaSpec
from saga.machine.moves import Move, Next
from saga.machine.state import Action
from saga.machine.ways import contract_of

__all__ = ["last_reading", "watch_until"]


def watch_until(spec: SagaSpec, action: Action) -> float | None:
    """When a straggler of `action` would show at the latest; `None` where nobody can tell."""
    contract = contract_of(spec, action)
    late_until, visible_after = contract.provider.late_until, contract.provider.visible_after
    if not contract.probe or late_until is None or visible_after is None:
        return None
    return action.last_until + late_until + visible_after


def last_reading(spec: SagaSpec, action: Action, now: float) -> Move | None:
    """The next move for a watched action; `None` while something else comes first."""
    if action.watch is None or not action.ends_watch(max(action.watch, now)):
        return None
    if action.unseen < contract_of(spec, action).retry.most_probes:
        return Move(Next.PROBE, max(action.watch, action.probe_due))
    return None if action.case is not None else Move(Next.GIVE_UP, now, "late")
