"""The product's side: a setting as the specification it decides by, and a run to go on from."""

from __future__ import annotations

import copy

from saga.definition.spec import ContractSpec, ProviderSpec, RetrySpec, SagaSpec, StepSpec
from saga.machine.state import RunState
from tests.protocol.setting import Setting

__all__ = ["TICK", "saga_of", "twin_of"]

TICK = 10.0  # seconds


def saga_of(setting: Setting) -> SagaSpec:
    """The same saga at the same provider. It retries at once: the model has no back-off."""
    steps = range(1, setting.steps + 1)
    return SagaSpec(
        name="protocol",
        version=1,
        digest="sha256:" + "0" * 64,
        deadline=None,
        steps=tuple(_step(setting, step) for step in steps),
    )


def _step(setting: Setting, step: int) -> StepSpec:
    irreversible = step in setting.irreversible
    return StepSpec(
        index=step - 1,
        name=str(step),
        effect=_contract(setting, "act", needs_receipt=False),
        undo="irreversible" if irreversible else "compensation",
        compensation=None
        if irreversible
        else _contract(setting, "undo", needs_receipt=setting.undo_needs_receipt),
        undo_reason="",
        after=tuple(earlier - 1 for earlier in setting.before(step)),
        before=tuple(later - 1 for later in setting.behind(step)),
        hold=setting.hold,
    )


def _contract(setting: Setting, name: str, *, needs_receipt: bool) -> ContractSpec:
    declared = setting.declared
    return ContractSpec(
        name=name,
        version=1,
        timeout=setting.timeout * TICK,
        probe=setting.asks,
        provider=ProviderSpec(
            name="provider",
            key_life=setting.key_life * TICK if setting.keys else None,
            in_flight=setting.in_flight * TICK if declared else None,
            visible_after=setting.visible_after * TICK if declared else None,
            late_until=setting.late_until * TICK if declared and setting.late_declared else None,
            replays_refusals=setting.replays_refusals,
        ),
        retry=RetrySpec(attempts=setting.attempts, first=0.0, factor=1.0, longest=0.0, jitter=0.0),
        needs_receipt=needs_receipt,
    )


def twin_of(run: RunState) -> RunState:
    """A copy that shares nothing that changes."""
    twin = copy.copy(run)
    twin.actions = {key: copy.copy(action) for key, action in run.actions.items()}
    for action in twin.actions.values():
        action.open = {number: copy.copy(one) for number, one in action.open.items()}
        action.others = list(action.others)
    twin.progress = [copy.copy(one) for one in run.progress]
    for progress in twin.progress:
        progress.newest = {item: twin.actions[a.key] for item, a in progress.newest.items()}
    twin.way_back = {step: copy.copy(one) for step, one in run.way_back.items()}
    twin.standing = dict(run.standing)
    for back in twin.way_back.values():
        back.to_undo = {item: twin.actions[a.key] for item, a in back.to_undo.items()}
        back.undoing = set(back.undoing)
    twin.frontier = set(run.frontier)
    twin.watched = {key: twin.actions[key] for key in run.watched}
    twin.strays = {key: twin.actions[key] for key in run.strays}
    twin.active = {key: twin.actions[key] for key in run.active}
    twin.moving = {key: twin.actions[key] for key in run.moving}
    twin.cases = {name: copy.copy(case) for name, case in run.cases.items()}
    twin.ready = list(run.ready)
    return twin
