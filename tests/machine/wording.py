"""Situations, commands and answers of the machine in words, for the decision table.

What two situations are called must tell them apart as far as any answer differs; the table fails
where one name has two answers. Times are said as what they mean: "too early", "key too old".
"""

from __future__ import annotations

import re
from math import inf
from typing import assert_never

from saga.definition.keys import place_of
from saga.definition.spec import ContractSpec, SagaSpec
from saga.machine.action_events import Absent, Probed, Refused, Renewed, Sending, Unknown
from saga.machine.bounds import absence_bound, look_bound, under_way_until
from saga.machine.commands import Rejected
from saga.machine.decide import Decision
from saga.machine.events import CaseClosed, CaseOpened, Ended, Event, WindingDown
from saga.machine.plan import AskNow, BeginNow, BeginProbeNow, DecideNow, Plan, SendNow, Todo
from saga.machine.state import FORWARD, Action, RunState, step_of
from saga.machine.ways import contract_of

__all__ = ["name_of", "planned", "situation", "told"]


def name_of(spec: SagaSpec, action: Action) -> str:
    """`charge`, `undo of charge`, `undo~2 of charge~3`: generations from the second on."""
    name = place_of(step_of(spec.steps, action).name, action.item)
    own = "" if action.generation == 1 else f"~{action.generation}"
    if action.of_key is None:
        return f"{name}{own}"
    of = re.search(r"~[0-9]+$", action.of_key)
    return f"undo{own} of {name}{of[0] if of else ''}"


def situation(spec: SagaSpec, state: RunState, now: float) -> str:
    """Where a run stands, in words."""
    shown = [a for a in state.actions.values() if not a.superseded or a.late or a.watch]
    forward = [action for action in shown if action.direction == FORWARD]
    actions = [one for of in forward for one in (of, *(a for a in shown if a.of_key == of.key))]
    words = [f"{name_of(spec, one)} {_action(spec, state, one, now)}" for one in actions]
    return "; ".join([_run(spec, state, now), *words])


def _run(spec: SagaSpec, state: RunState, now: float) -> str:
    if state.phase == "ended":
        return f"ended {state.outcome}"
    words = "running" if state.phase == "running" else f"winding down ({state.cause})"
    if state.cancel is not None and state.phase == "running":
        words += ", cancel recorded"
    if state.accepted:
        words += ", something accepted"
    for group, limit in spec.limits:
        late = group in state.begun and now >= state.begun[group] + limit
        words += f", {group} out of time" * (late and state.phase == "running")
    for name, how in state.savepoints.items():
        words += f", back to {name}" if how == "undoing" else f", {name} the other way"
    return words


def _action(spec: SagaSpec, state: RunState, action: Action, now: float) -> str:
    contract = contract_of(spec, action)
    words = [action.state.replace("_", " ")]
    words += ["on a person's evidence"] * ("evidence" in str(action.receipt))
    words += ["but undone"] * action.undone
    words += _not_called(state, action, now)
    if action.state in ("sending", "unknown"):
        words += _attempts(action)
    if action.state == "unknown":
        words += _asked(action, contract, now)
    repeats = action.direction != FORWARD or state.phase == "running"
    if action.not_sent and repeats and action.state in ("not_sent", "sending", "unknown"):
        words.append(f"{action.not_sent} of {contract.retry.attempts} attempts not sent")
    later = action.due > now and action.case is None
    if later and (action.state == "unknown" or (action.state == "not_sent" and repeats)):
        words.append("next sending later")
    if action.state in ("unknown", "absent") and _key_too_old(action, contract, now):
        words.append("key too old")
    words += ["landed late"] * action.late
    if action.watch is not None:
        due = action.ends_watch(now) and now >= action.probe_due
        words.append("last reading due" if due else "watched")
        words += [f"{action.unseen} last readings without an end"] * bool(action.unseen)
    if action.wish is not None:
        words.append(f"a person wants: {action.wish}")
    if action.others:
        words.append("second effect known")
    if action.case is not None:
        words.append(f"case {state.cases[action.case].kind}")
    return ", ".join(words)


def _not_called(state: RunState, action: Action, now: float) -> list[str]:
    """What an intent without a sending waits for, or what people said."""
    asked = action.approval
    if action.state == "refused" and asked is not None and action.error is not None:
        return [action.error["type"]] + [f"too late: {who}" for who in sorted(asked.late)]
    if action.state != "intended":
        return []
    if asked is not None:
        given = [f"approved by {', '.join(sorted(asked.given))}"] * bool(asked.given)
        late = [f"too late: {', '.join(sorted(asked.late))}"] * bool(asked.late)
        return [*given, *late, *["expired"] * (now >= asked.expires_at)]
    words = ["its time has come"] * (action.due <= now)
    over = action.deadline_at is not None and action.deadline_at <= now
    return words + ["its limit has passed"] * over + ["signalled"] * (action.step in state.signals)


def _key_too_old(action: Action, contract: ContractSpec, now: float) -> bool:
    """What is sent now might arrive when the provider has forgotten the first landing."""
    life, in_flight = contract.provider.key_life, contract.provider.in_flight
    if life is None or in_flight is None:
        return False
    return max(now, action.due) + contract.timeout + in_flight >= action.first_at + life


def _attempts(action: Action) -> list[str]:
    words = []
    if action.state == "sending" and len(action.open) > 1:
        words.append("an earlier attempt unknown")
    if action.running:
        words.append("its call still in a thread")
    if action.refusals:
        words.append("one attempt refused")
    if action.resends:
        words.append("sent again")
    return words


def _asked(action: Action, contract: ContractSpec, now: float) -> list[str]:
    words = []
    if contract.probe:
        left = contract.retry.attempts - action.probes
        words += ["next probe later"] * (action.probe_due > now and action.case is None)
        asked = f"asked, {action.last_answer}".replace("_", " ") if action.asked else "not asked"
        words.append(f"{asked}, {left} answers left" if action.probes else asked)
        if now < under_way_until(action, contract) and not action.running:
            words.append("the provider may be at it")
        bound = absence_bound(action, contract.provider)
        if bound is None or bound == inf:
            words.append("absence cannot count")
        else:
            words.append("absence counts" if now >= bound else "too early for absence")
        if action.first_absent is not None:
            visible = contract.provider.visible_after or 0.0
            again = now >= action.first_absent + visible
            words.append("absence read once" + (", long enough ago" if again else ""))
    else:
        bound = look_bound(action, contract)
        words.append("a look counts" if now >= bound else "too early for a look")
    return words


def planned(spec: SagaSpec, state: RunState, plan: Plan) -> str:
    """What an owner does next."""
    words = [_todo(spec, state, todo) for todo in plan.todo]
    return "; ".join(words) or ("nothing" if plan.due is None else "wait")


def _todo(spec: SagaSpec, state: RunState, todo: Todo) -> str:
    match todo:
        case BeginNow():
            of = None if todo.of_key is None else state.actions[todo.of_key]
            choice = todo.choice if of is None else of.choice
            name = place_of(spec.steps[todo.step].choice(choice).name, todo.item)
            own = f"~{todo.generation}" if todo.generation > 1 else ""
            return f"begin {name}{own}" if of is None else f"begin undo{own} of {name_of(spec, of)}"
        case SendNow():
            return f"send {name_of(spec, state.actions[todo.key])}"
        case BeginProbeNow() | AskNow():
            return f"ask about {name_of(spec, state.actions[todo.key])}"
        case DecideNow():
            return "decide"
        case _:
            assert_never(todo)


def told(spec: SagaSpec, state: RunState, decision: Decision) -> str:
    """What the machine answers; `state` is the one after it."""
    if isinstance(decision, Rejected):
        return f"no: {decision.reason}"
    return "; ".join(_event(spec, state, event) for event in decision)


def _event(spec: SagaSpec, state: RunState, event: Event) -> str:
    kind = event.kind.replace("_", " ")
    match event:
        case WindingDown():
            return f"winding down: {event.cause}"
        case Ended():
            return f"ended {event.outcome}"
        case CaseOpened():
            return f"case {event.case_kind} of {name_of(spec, state.actions[event.key])}"
        case CaseClosed():
            who = "by evidence" if event.verdict is None else event.verdict
            return f"case closed: {who}"
        case _:
            key = getattr(event, "key", None)
            if key is None:
                return kind
            return f"{name_of(spec, state.actions[key])} {kind}{_details(event)}"


def _details(event: Event) -> str:
    words: list[str] = []
    match event:
        case Sending():
            words = ["again"] * (event.attempt > 1)
        case Refused():
            words = ["for all attempts"] * event.settles
        case Unknown():
            words = ["still running"] * event.running + ["key taken"] * event.conflict
        case Probed():
            words = [event.answer.replace("_", " ")] + ["counts"] * event.counted
        case Absent() | Renewed():
            words = [f"again: {event.again}"]
        case _:
            pass
    return f" ({', '.join(words)})" if words else ""
