"""Until when something of an action may still happen, as far as its provider declares it."""

from __future__ import annotations

from math import inf

from saga.definition.spec import FOREVER, ContractSpec, ProviderSpec
from saga.machine.state import Action

__all__ = ["absence_bound", "key_lives_until", "look_bound", "under_way", "under_way_until"]


def under_way(contract: ContractSpec) -> float | None:
    """How long after its last moment a request may land and be missed; `None`: undeclared.

    Where the provider cannot be asked nobody would see a straggler: it is waited for.
    """
    provider = contract.provider
    if not contract.probe and provider.late_until is not None:
        return provider.late_until
    return provider.in_flight


def absence_bound(action: Action, provider: ProviderSpec) -> float | None:
    """The earliest start of a reading of absence that counts (unix seconds).

    `None` where the provider declares no bound; infinite while a call has not returned.
    """
    if provider.in_flight is None or provider.visible_after is None:
        return None
    if action.running:
        return inf
    return action.last_until + provider.in_flight + provider.visible_after


def under_way_until(action: Action, contract: ContractSpec) -> float:
    """How long "in progress" is what the provider itself declares that it may say (unix seconds).

    Until then it is simply waited for; later it settles no more than "cannot say" does.
    """
    if action.running:
        return inf
    provider = contract.provider
    declared = provider.late_until if provider.late_until is not None else provider.in_flight
    return action.last_until + (declared or 0.0)


def look_bound(action: Action, contract: ContractSpec) -> float:
    """The time from which on a person must have looked before saying that it did not happen.

    Infinite while a call has not returned. Where no bound is declared it is the last moment a byte
    could leave, and the text of the case says that nothing more is known.
    """
    if action.running or any(attempt.in_flight for attempt in action.open.values()):
        return inf
    visible_after = contract.provider.visible_after
    return action.last_until + (under_way(contract) or 0.0) + (visible_after or 0.0)


def key_lives_until(action: Action, contract: ContractSpec) -> float:
    """Until when a straggler may land under the key of an action, or its provider still honour it.

    A key that is honoured for ever counts only as long as something may land: nobody can wait for
    its end. Infinite while a call has not returned.
    """
    if action.running:
        return inf
    provider = contract.provider
    late = provider.late_until if provider.late_until is not None else provider.in_flight
    life = provider.key_life if provider.key_life != FOREVER else None
    return action.last_until + (late or 0.0) + max(life or 0.0, provider.visible_after or 0.0)
