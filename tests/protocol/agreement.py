"""When a state of the model and a state of the product say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saga.machine.state import FORWARD, Action, RunState
from tests.protocol import states
from tests.protocol.names import Key
from tests.protocol.states import NONE, State

__all__ = ["differences", "key_in", "name_of", "receipt_of"]


def receipt_of(landing: int) -> Any:
    """The product's receipt for one of the provider's landings."""
    return None if landing == NONE else {"landing": landing}


def key_in(run: RunState, name: str) -> Key:
    """The model's key for an action of the product."""
    action = run.actions[name]
    if action.direction == FORWARD:
        return Key(action.step + 1, action.generation)
    assert action.of_key is not None
    return Key(action.step + 1, run.actions[action.of_key].generation, action.generation)


def name_of(run: RunState, key: Key) -> str:
    """The product's key of an action of the model; `""` if it has none."""
    return next((name for name in run.actions if key_in(run, name) == key), "")


def differences(state: State, run: RunState) -> list[str]:
    """What the two disagree about, as `what: model / product`."""
    return [
        f"{what}: {model!r} / {product!r}"
        for what, model, product in (*_of_run(state, run), *_of_actions(state, run))
        if model != product
    ]


def _of_run(state: State, run: RunState) -> Iterator[tuple[str, object, object]]:
    yield "phase", state.run.phase, run.phase
    yield "outcome", state.run.outcome, run.outcome or ""
    yield "cancelled", state.run.stop is not None, run.cancel is not None
    yield "accepted", state.run.accepted, run.accepted


def _of_actions(state: State, run: RunState) -> Iterator[tuple[str, object, object]]:
    modelled = dict(state.actions)
    built = {key_in(run, name): action for name, action in run.actions.items()}
    yield "actions", sorted(modelled), sorted(built)
    for key in sorted(modelled.keys() & built.keys()):
        action = built[key]
        for what, model, product in _of_action(modelled[key], action, run):
            yield f"{what} of {key}", model, product


def _of_action(
    model: states.Action, action: Action, run: RunState
) -> Iterator[tuple[str, object, object]]:
    status = "open" if action.state in ("sending", "unknown") else action.state
    yield "status", model.status, status
    yield "attempts", model.attempts, action.attempts
    yield "unsettled", model.unsettled, tuple(sorted(action.open))
    yield "receipt", _receipt(model), action.receipt
    yield "others", [receipt_of(one) for one in model.others], action.others
    yield "not sent", model.not_sent, action.not_sent
    yield "resends", model.resends, action.resends
    yield "refused", model.refused, action.refusals > 0
    yield "case", model.case, "" if action.case is None else run.cases[action.case].kind
    yield "undone", model.undone, action.undone
    yield "answered for", model.answered_for, action.answered_for
    if not action.superseded:
        yield "asked for", model.again, action.wish or ""
    if status == "open" and not action.superseded:
        yield "first reading", model.since_absent != NONE, action.first_absent is not None


def _receipt(model: states.Action) -> object:
    if model.status == "landed" and model.receipt == NONE:
        return {"evidence": "seen"}  # taken back by a person
    return receipt_of(model.receipt)
