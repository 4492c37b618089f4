"""A forward intent as it is written: the key made once, the undo and its key written ahead."""

from __future__ import annotations

from saga.definition.keys import forward_key, undo_key
from saga.definition.spec import StepSpec
from saga.machine.action_events import Intended
from saga.machine.facts import Json
from saga.machine.state import FORWARD, RunState

__all__ = ["forward_intent"]


def forward_intent(
    state: RunState,
    step: StepSpec,
    *,
    target: str,
    digest: str,
    args: Json,
    deadline_at: float | None,
    item: str | None = None,
    generation: int = 1,
    replaces: str | None = None,
) -> Intended:
    """The intent of a step's action; `replaces` is the key that it stands in for."""
    effect, undo = step.effect, step.compensation
    key = forward_key(
        state.instance,
        state.run_id,
        step.name,
        item,
        target,
        effect.version,
        generation,
        effect.provider.key_max,
    )
    return Intended(
        key=key,
        step=step.name,
        item=item,
        direction=FORWARD,
        generation=generation,
        effect=effect.name,
        effect_version=effect.version,
        target=target,
        digest=digest,
        args=args,
        of_key=None,
        replaces=replaces,
        undo=undo.label if undo else None,
        undo_key=undo_key(key, undo.version, 1, undo.provider.key_max) if undo else None,
        deadline_at=deadline_at,
    )
