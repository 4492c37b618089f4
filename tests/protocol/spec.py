"""A setting as the product knows it: the specification that `saga.machine` decides by."""

from __future__ import annotations

from saga.definition.spec import ContractSpec, ProviderSpec, RetrySpec, SagaSpec, StepSpec
from tests.protocol.setting import Setting

__all__ = ["TICK", "saga_of"]

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
            late_until=setting.late_until * TICK if declared else None,
            replays_refusals=setting.replays_refusals,
        ),
        retry=RetrySpec(attempts=setting.attempts, first=0.0, factor=1.0, longest=0.0, jitter=0.0),
        needs_receipt=needs_receipt,
    )
