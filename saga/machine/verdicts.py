"""What a person may decide about a case, and what follows from each verdict.

The same functions serve the page that offers the verdicts and `decide`, which checks them: what is
not offered is not possible.
"""

from __future__ import annotations

from math import inf

from saga.definition.spec import ContractSpec, SagaSpec
from saga.machine.bounds import look_bound
from saga.machine.budgets import exceeded, least_raise
from saga.machine.forward import begins_in_time, goes_forward, group_deadline, leads_on
from saga.machine.state import FORWARD, Action, Case, RunState, step_of
from saga.machine.ways import contract_of

__all__ = [
    "NEEDS_A_LOOK",
    "VERDICTS",
    "is_about_a_straggler",
    "not_before",
    "out_of_time",
    "verdicts",
]

VERDICTS = ("probe", "retry", "landed", "absent", "undone", "accept", "raise", "compensate")

NEEDS_A_LOOK = ("retry", "absent", "undone")


def not_before(
    spec: SagaSpec, state: RunState, case: Case, verdict: str = "absent"
) -> float | None:
    """When a person must have looked, at the earliest, for `verdict` to count (unix seconds).

    `None` where no look is needed; infinite while a call of the action has not returned.
    """
    action = state.actions[case.key]
    if case.kind == "late" or action.state != "unknown" or verdict not in NEEDS_A_LOOK:
        return None
    return look_bound(action, contract_of(spec, action))


def out_of_time(spec: SagaSpec, state: RunState, action: Action) -> float | None:
    """When the run, or its part that an action is of, stops going forward, if it still does.

    From then on verdicts mean something else, also while nobody has recorded it (unix seconds).
    """
    if state.phase != "running" or state.past_pivot:
        return None
    run = inf if state.deadline_at is None else state.deadline_at
    ends = min(run, group_deadline(spec, state, step_of(spec.steps, action)))
    return None if ends == inf else ends


def verdicts(spec: SagaSpec, state: RunState, case: Case, now: float) -> dict[str, str]:
    """The verdicts that are possible on an open case at `now`, each with its consequence."""
    if case.state != "open":
        return {}
    if case.kind == "late":
        watched = state.actions[case.key].watch is not None
        if is_about_a_straggler(state.actions[case.key]) and _goes_on(spec, state, case, now):
            return _watched()
        ask = {"probe": "The provider is asked now; the answer may close the case."}
        return (ask if watched else {}) | {
            "undone": "You have taken this effect back yourself; the case is closed.",
            "accept": "This effect stays; the case is closed under your name.",
        }
    action = state.actions[case.key]
    if step_of(spec.steps, action).wait is not None:
        then = _landed(spec, state, case, now)
        return {
            "landed": f"It counts as brought, with what you give; {then}",
            "accept": "It stays as it is; the rest is undone and the run ends settled.",
        }
    contract = contract_of(spec, action)
    forward, unknown = action.direction == FORWARD, action.state == "unknown"
    # A list that could not be gone over is no action that could be sent.
    whole = action.item is None and step_of(spec.steps, action).each is not None
    again = not whole and (not forward or _goes_on(spec, state, case, now))
    offered: dict[str, str] = {}
    if case.kind == "budget":
        offered |= _more(spec, state, action, now)
    elif contract.probe and not exceeded(spec, state, action, probe=True):
        offered["probe"] = "The provider is asked now; the answer may settle and close the case."
    if again and case.kind != "budget":
        offered["retry"] = _retry(action, contract)
    then = _landed(spec, state, case, now) if forward else "the undoing goes on."
    offered["landed"] = f"It counts as done with the receipt you give; {then}"
    if unknown:
        then = _sent_again(action, contract) if again else "nothing of it is undone."
        offered["absent"] = f"It counts as not having happened; {then}"
    if unknown or not forward:
        rest = (
            f"{_turned(state)}the rest of the run is undone." if forward else "the undoing goes on."
        )
        offered["undone"] = f"It counts as taken back, on your evidence; {rest}"
    rest = _turned(state) if forward else ""
    offered["accept"] = f"It stays as it is; {rest}the rest is undone and the run ends settled."
    return offered


def _turned(state: RunState) -> str:
    """What only a person can do."""
    passed = state.past_pivot and state.phase == "running"
    return "though a pivot has landed, the run winds down: " if passed else ""


def _goes_on(spec: SagaSpec, state: RunState, case: Case, now: float) -> bool:
    """The step of the case may still be done: neither the run nor its part of it has turned."""
    step = step_of(spec.steps, state.actions[case.key])
    return begins_in_time(spec, state, step, now) and leads_on(state, step)


def _landed(spec: SagaSpec, state: RunState, case: Case, now: float) -> str:
    """What follows once a forward action counts as landed."""
    action = state.actions[case.key]
    step = step_of(spec.steps, action)
    if _goes_on(spec, state, case, now):
        return "the run goes on from there."
    if state.phase == "running" and leads_on(state, step):
        if step.pivot:
            return "from there on the run only goes forward, whatever has stopped it."
        return "it is undone with the rest, unless the run completes all the same."
    if step.irreversible:
        return "it cannot be undone, and a case asks who answers for it."
    if step.compensation is None:
        return "nothing of it is to be undone, and the rest is."
    return "it is undone with the rest."


def is_about_a_straggler(action: Action) -> bool:
    """A late case of it is about what nobody has seen: the verdict is about the action itself."""
    unseen = action.watch is not None and not action.others and not action.superseded
    return unseen and action.direction == FORWARD and action.state != "landed"


def _more(spec: SagaSpec, state: RunState, action: Action, now: float) -> dict[str, str]:
    """What may be decided about a budget: more of it, or no more of the run."""
    if not goes_forward(state, now):
        return {}
    least = least_raise(spec, state, action)
    text = f"The run may use up as much as you give, at least {least}, and goes on."
    offered = {"raise": text}
    if not state.past_pivot:
        offered["compensate"] = "The run is undone; that is held up by no budget."
    return offered


def _watched() -> dict[str, str]:
    """While the run goes forward it would go on with what a person has settled otherwise."""
    return {
        "probe": "The provider is asked now; the answer may close the case.",
        "undone": "You have taken back what landed late; the rest of the run is undone.",
        "accept": "Whatever landed late stays; the rest is undone and the run ends settled.",
    }


def _retry(action: Action, contract: ContractSpec) -> str:
    text = "It is sent again, attempts counted from 0, "
    if contract.provider.honours_keys and action.state != "refused":
        return text + "under the same key."
    text += "under a new key."
    if action.state == "refused":
        return text
    if contract.provider.late_until is None:
        text += " How long the old request can still land is not declared: that risk is yours."
    return text + " Should it have landed or still land, there are two."


def _sent_again(action: Action, contract: ContractSpec) -> str:
    if action.refusals:
        return "another attempt of it was refused, so it counts as refused."
    key = "the same key" if contract.provider.honours_keys else "a new key"
    return f"it is sent again, under {key}."
