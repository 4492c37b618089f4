"""When an `Each` begins: its list is looked at once, and found good or refused as a whole."""

from __future__ import annotations

from saga.definition.canonical import digest
from saga.definition.spec import SagaSpec, StepSpec
from saga.machine.action_events import Refused
from saga.machine.events import Event, Spread
from saga.machine.forward import begins_in_time
from saga.machine.intended import forward_intent
from saga.machine.items import BadItems, listed
from saga.machine.state import RunState

__all__ = ["spread"]


def spread(spec: SagaSpec, state: RunState, now: float) -> list[Event]:
    """The lists whose turn it is at `now`."""
    events: list[Event] = []
    for index in state.ready:
        step, progress = spec.steps[index], state.progress[index]
        if step.each is None or progress.items is not None or progress.newest:
            continue
        if not begins_in_time(spec, state, step, now):
            continue
        try:
            events.append(Spread(step=step.name, items=len(listed(state, step.each).order)))
        except BadItems as fault:
            events += _refused(state, step, str(fault), now)
    return events


def _refused(state: RunState, step: StepSpec, text: str, now: float) -> list[Event]:
    """Nothing of it is begun: the step counts as refused, as one whose arguments cannot be."""
    intent = {"contract": step.effect.label, "target": "-", "arguments": None}
    intended = forward_intent(
        state, step, target="-", digest=digest(intent), args=None, deadline_at=None
    )
    error = {"type": "BadItems", "text": text, "leaves": []}
    return [intended, Refused(key=intended.key, attempt=0, error=error, settles=True, due=now)]
