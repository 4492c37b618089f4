"""When an `Each` begins: its list is looked at once, and found good or refused as a whole."""

from __future__ import annotations

from saga.definition.canonical import digest
from saga.definition.keys import forward_key
from saga.definition.spec import SagaSpec, StepSpec
from saga.machine.action_events import Intended, Refused
from saga.machine.events import Event, Spread
from saga.machine.forward import begins_in_time
from saga.machine.items import BadItems, listed
from saga.machine.state import FORWARD, RunState

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
    effect, undo = step.effect, step.compensation
    key = forward_key(
        state.instance,
        state.run_id,
        step.name,
        None,
        "-",
        effect.version,
        1,
        effect.provider.key_max,
    )
    intent = {"contract": effect.label, "target": "-", "arguments": None}
    intended = Intended(
        key=key,
        step=step.name,
        item=None,
        direction=FORWARD,
        generation=1,
        effect=effect.name,
        effect_version=effect.version,
        target="-",
        digest=digest(intent),
        args=None,
        of_key=None,
        replaces=None,
        undo=undo.label if undo else None,
        undo_key=None,
        deadline_at=None,
    )
    error = {"type": "BadItems", "text": text, "leaves": []}
    return [intended, Refused(key=key, attempt=0, error=error, settles=True, due=now)]
