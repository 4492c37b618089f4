"""The intent of an action: what is frozen before anything leaves, under which key."""

from __future__ import annotations

from saga.definition.keys import undo_key
from saga.definition.spec import ContractSpec, SagaSpec
from saga.machine.action_events import Intended
from saga.machine.commands import Intend, Rejected, Rejection, Unfreezable
from saga.machine.intended import forward_intent
from saga.machine.plan import begins
from saga.machine.state import UNDO, Action, RunState, step_of

__all__ = ["frozen_intent"]


def frozen_intent(
    spec: SagaSpec,
    state: RunState,
    command: Intend | Unfreezable,
    target: str,
    digest: str,
    args: object,
) -> Intended | Rejected:
    """The intent of an action that is due; a rejection if it is not."""
    if not begins(spec, state, command):
        what = "an action" if command.of_key is None else f"an undo of {command.of_key}"
        text = f"{what}, generation {command.generation} of step {command.step}, is not due"
        return Rejected(Rejection.NOT_DUE, text)
    if command.of_key is None:
        return _forward(spec, state, command, target, digest, args)
    return _undo(spec, state, state.actions[command.of_key], command, target, digest, args)


def _forward(
    spec: SagaSpec,
    state: RunState,
    command: Intend | Unfreezable,
    target: str,
    digest: str,
    args: object,
) -> Intended:
    step = spec.steps[command.step].choice(command.choice)
    before = state.newest(step.index, command.item)
    return forward_intent(
        state,
        step,
        target=target,
        digest=digest,
        args=args,
        deadline_at=_deadline(_same(before, command), step.effect, command.at),
        item=command.item,
        generation=command.generation,
        replaces=None if before is None else before.key,
    )


def _same(before: Action | None, command: Intend | Unfreezable) -> Action | None:
    """The generation before this one; what it stands in for had a time of its own."""
    return before if before is not None and before.choice == command.choice else None


def _deadline(before: Action | None, contract: ContractSpec, at: float) -> float | None:
    """One time for all generations, from the first intent, or from where a person began anew."""
    if before is not None:
        return before.deadline_at
    return None if contract.deadline is None else at + contract.deadline


def _undo(
    spec: SagaSpec,
    state: RunState,
    of: Action,
    command: Intend | Unfreezable,
    target: str,
    digest: str,
    args: object,
) -> Intended:
    step, generation = step_of(spec.steps, of), command.generation
    contract = step.compensation
    assert contract is not None, step.name
    assert of.undo_key is not None, step.name
    key, before = of.undo_key, state.undo_of(of)  # written ahead
    if generation > 1:
        key = undo_key(of.key, contract.version, generation, contract.provider.key_max)
    return Intended(
        key=key,
        step=step.name,
        item=of.item,
        direction=UNDO,
        generation=generation,
        effect=contract.name,
        effect_version=contract.version,
        target=target,
        digest=digest,
        args=args,
        of_key=of.key,
        replaces=None if before is None else before.key,
        undo=None,
        undo_key=None,
        deadline_at=_deadline(before, contract, command.at),
    )
