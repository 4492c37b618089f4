"""Sagas compiled once: how a step freezes its arguments, makes its call, reads its receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from saga.definition.amounts import amount
from saga.definition.calls import Call, Undo
from saga.definition.canonical import DEPTH_MAX, digest
from saga.definition.contracts import Compensation
from saga.definition.keys import target_hash
from saga.definition.saga import Saga
from saga.definition.signatures import blocks
from saga.definition.spec import ContractSpec, SagaSpec, StepSpec
from saga.definition.step import Step
from saga.definition.values import (
    arguments,
    arguments_json,
    read_arguments,
    read_receipt,
    receipt_json,
)
from saga.journal.records import PAYLOAD_LIMIT, json_size
from saga.machine.facts import Error, Json
from saga.machine.items import item_value
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.orchestrator.describe import describe
from saga.orchestrator.outcome import Contract

__all__ = [
    "CallLimit",
    "CompiledSaga",
    "CompiledStep",
    "Frozen",
    "Side",
    "Unfreezable",
    "compile_saga",
]


class Unfreezable(Exception):
    """The arguments of a step cannot be frozen; nothing is sent."""

    def __init__(self, error: Error) -> None:
        super().__init__(error["text"])
        self.error = error


class Frozen(NamedTuple):
    """Arguments as they go into an intent."""

    args: Json
    target: str
    digest: str
    size: int  # bytes


class _Receipts(Mapping[str, Json]):
    """The receipts of the steps that landed, by step name, as the journal has them; and the item
    that the arguments are for, as "item".
    """

    def __init__(self, state: RunState, item: Json) -> None:
        self._state = state
        self._item = item

    def __getitem__(self, name: str) -> Json:
        if name == "item":
            return self._item
        action = self._state.newest(self._state.positions[name])
        if action is None:
            raise KeyError(name)
        return action.receipt

    def __iter__(self) -> Iterator[str]:
        positions = self._state.positions.items()
        return (name for name, position in positions if self._state.progress[position].newest)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class CallLimit:
    """How many calls at once are declared for an effect, a compensation or a provider."""

    kind: str
    name: str
    most: int


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a step: the contract's code, ready to be called."""

    contract: Contract
    threaded: bool  # its function is not async
    probe_threaded: bool
    freeze: Callable[[RunState, Action | None, str | None], Frozen]  # an undo: what it reverses
    call: Callable[[RunState, Action, int, float, Sequence[object]], Call[Any]]
    receipt_json: Callable[[Any], Json]
    limits: tuple[CallLimit, ...]


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A step: forward, and how it is undone if it can be."""

    forward: Side
    undo: Side | None
    instead: tuple[CompiledStep, ...] = ()

    @property
    def sides(self) -> tuple[Side, ...]:
        """Forward, and the undo if there is one."""
        return (self.forward,) if self.undo is None else (self.forward, self.undo)

    def side(self, direction: str) -> Side:
        """The side of a direction; only asked for where there is one."""
        side = self.forward if direction == FORWARD else self.undo
        assert side is not None
        return side


@dataclass(frozen=True, slots=True)
class CompiledSaga:
    """A saga with its code. `spec` has this code's tuning."""

    spec: SagaSpec
    steps: tuple[CompiledStep, ...]
    bounded: bool  # some call of it needs room: a thread, or a place of a declared limit

    def step_of(self, action: Action) -> CompiledStep:
        """The step that an action is of, or the alternative of it."""
        return self.choice(action.step, action.choice)

    def choice(self, step: int, choice: int) -> CompiledStep:
        """A step by its position; `choice`: 0 for itself, from 1 on for an alternative."""
        whole = self.steps[step]
        return whole.instead[choice - 1] if choice else whole


def compile_saga(saga: Saga[Any]) -> CompiledSaga:
    """Everything about a saga that does not depend on a run, worked out once."""
    spec = saga.machine_spec
    steps = tuple(map(_compile_choices, saga.steps, spec.steps))
    sides = [side for step in steps for one in (step, *step.instead) for side in one.sides]
    return CompiledSaga(spec, steps, any(side.threaded or side.limits for side in sides))


def _compile_choices(step: Step[Any, Any], row: StepSpec) -> CompiledStep:
    """A step with its alternatives."""
    instead = tuple(map(_compile_step, step.instead, row.instead))
    return replace(_compile_step(step, row), instead=instead)


def _compile_step(step: Step[Any, Any], row: StepSpec) -> CompiledStep:
    compensation = step.undo
    forward = _side(
        step.effect,
        lambda state, _, item: _freeze_forward(step, state, row, item),
        lambda state, action, attempt, deadline, resources: Call(
            args=read_arguments(step, action.args),
            resources=resources,
            **_common(state, action, attempt, deadline),
        ),
    )
    if compensation is None:
        return CompiledStep(forward, None)
    undo = _side(
        compensation,
        lambda _, of, __: _freeze_undo(step, compensation, of),
        lambda state, action, attempt, deadline, resources: _undo_call(
            step, state, action, attempt, deadline, resources
        ),
    )
    return CompiledStep(forward, undo)


def _side(
    contract: Contract,
    freeze: Callable[[RunState, Action | None, str | None], Frozen],
    call: Callable[[RunState, Action, int, float, Sequence[object]], Call[Any]],
) -> Side:
    return Side(
        contract=contract,
        threaded=blocks(contract.do),
        probe_threaded=contract.probe is not None and blocks(contract.probe),
        freeze=freeze,
        call=call,
        receipt_json=lambda value: receipt_json(contract, value),
        limits=_limits(contract),
    )


def _limits(contract: Contract) -> tuple[CallLimit, ...]:
    kind = "compensation" if isinstance(contract, Compensation) else "effect"
    provider = contract.provider.spec
    declared = (
        (kind, contract.name, contract.concurrency),
        ("provider", provider.name, provider.concurrency),
    )
    return tuple(CallLimit(kind, name, most) for kind, name, most in declared if most is not None)


def _common(state: RunState, action: Action, attempt: int, deadline: float) -> dict[str, Any]:
    return {
        "key": action.key,
        "digest": action.digest,
        "run_id": state.run_id,
        "step": step_of(state.steps, action).name,
        "item": action.item,
        "attempt": attempt,
        "deadline": datetime.fromtimestamp(deadline, UTC),
    }


def _undo_call(
    step: Step[Any, Any],
    state: RunState,
    action: Action,
    attempt: int,
    deadline: float,
    resources: Sequence[object],
) -> Call[Any]:
    of = state.actions[action.of_key or ""]
    return Undo(
        args=read_arguments(step, action.args),
        receipt=None if of.state != "landed" else read_receipt(step.effect, of.receipt),
        of_key=of.key,
        resources=resources,
        **_common(state, action, attempt, deadline),
    )


def _freeze_forward(
    step: Step[Any, Any], state: RunState, row: StepSpec, item: str | None
) -> Frozen:
    try:
        receipts = _Receipts(state, item_value(state, row, item))
        args = arguments_json(step, arguments(step, state.input, receipts))
        target = target_hash([args[name] for name in step.effect.target])
    except BaseException as error:  # validators and default factories are user code
        raise Unfreezable(describe(error)) from error
    _ensure_priced(row.effect, args)
    intent = {"contract": step.effect.label, "target": target, "arguments": args}
    return _frozen(args, target, intent)


def _ensure_priced(effect: ContractSpec, args: Json) -> None:
    """What counts against a budget can be read as it will be stored."""
    for unit, price in effect.cost:
        if isinstance(price, str) and amount(args[price]) is None:
            text = f"argument {price!r} is its cost in {unit}, and no amount of a sensible size"
            raise Unfreezable({"type": "BadCost", "text": text, "leaves": []})


def _freeze_undo(
    step: Step[Any, Any], compensation: Compensation[Any, Any], of: Action | None
) -> Frozen:
    """What it reverses is frozen already; its digest covers the receipt that it is called with."""
    assert of is not None, step.name
    receipt = of.receipt if of.state == "landed" else None
    try:
        if receipt is not None:
            read_receipt(step.effect, receipt)  # a person may have given it
    except BaseException as error:  # as above
        raise Unfreezable(describe(error)) from error
    intent = {
        "contract": compensation.label,
        "target": of.target,
        "arguments": of.args,
        "receipt": receipt,
    }
    return _frozen(of.args, of.target, intent)


def _frozen(args: Json, target: str, intent: Json) -> Frozen:
    size = json_size(args)
    if size > PAYLOAD_LIMIT:
        text = f"arguments of {size} bytes; the limit is {PAYLOAD_LIMIT}"
        raise Unfreezable({"type": "too_large", "text": text, "leaves": []})
    return Frozen(args, target, digest(intent, depth_max=DEPTH_MAX + 1), size)
