"""What may happen to a run: the one place that answers commands.

Rule 1: `decide` is total. Every command in every state gets events or a named rejection; it raises
nothing but `AssertionError`, which is a bug here.
Rule 2: no clock, chance or IO. Time is in the command, chance is a hash.
Rule 3: what follows from a result is recorded with it; `transition` is `decide` and all that
follows.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from saga.definition.spec import SagaSpec, StepSpec
from saga.machine.action_events import Refused, Sending
from saga.machine.approving import asked_for, decided
from saga.machine.budget_events import ProbeBegun
from saga.machine.budgets import ended_probe, lost_probes, too_much
from saga.machine.commands import (
    BeginProbe,
    Cancel,
    Command,
    Decide,
    Intend,
    Lost,
    Park,
    ProbeAnswer,
    Rejected,
    Rejection,
    Reply,
    Report,
    Resolve,
    Send,
    Signal,
    Start,
    TakeTurn,
    Unfreezable,
    Wake,
)
from saga.machine.events import CancelRecorded, CasesOutdated, Event, Started, TurnTaken
from saga.machine.evolve import evolve
from saga.machine.follow import consequences
from saga.machine.forward import is_final, stopped
from saga.machine.intents import frozen_intent
from saga.machine.items import holds
from saga.machine.plan import asks, sends
from saga.machine.resolve import resolved
from saga.machine.results import answered, landed, lost, replied
from saga.machine.state import RunState, step_of
from saga.machine.turns import parked, taken
from saga.machine.waiting import signalled
from saga.machine.ways import contract_of

__all__ = ["EVENTS_MAX", "Decision", "decide", "transition"]

Decision: TypeAlias = tuple[Event, ...] | Rejected

EVENTS_MAX = 24  # that follow in one transition: with errors of 2 KB each they fit a record
_FOLLOW_LIMIT = 1000  # consequences of one command come to an end; more, and some a step, is a bug


def transition(spec: SagaSpec, state: RunState, command: Command) -> Decision:
    """Decide, apply, and apply all that follows. `state` is changed unless it is rejected.

    Where more than `EVENTS_MAX` events would follow, `plan` says at once that more is due.
    """
    decision = decide(spec, state, command)
    if isinstance(decision, Rejected):
        return decision
    course = _course(state) if state.open_cases else None
    events = list(decision)
    for event in events:
        evolve(state, event, command.at)
    room = EVENTS_MAX
    for _ in range(_FOLLOW_LIMIT + 8 * len(spec.steps)):
        more = consequences(spec, state, command.at)[:room]
        if not more:
            break
        for event in more:
            evolve(state, event, command.at)
        events += more
        room -= len(more)
    else:
        raise AssertionError("the consequences of a command do not come to an end")
    if not events:
        return Rejected(Rejection.NOTHING_DUE, "nothing is due")
    if state.open_cases and course not in (None, _course(state)):
        events.append(CasesOutdated())
        evolve(state, events[-1], command.at)
    return tuple(events)


def _course(state: RunState) -> tuple[object, ...]:
    """Where the run is going: once that changes, verdicts mean something else than was shown."""
    return state.phase, state.past_pivot, stopped(state), dict(state.savepoints)


def decide(spec: SagaSpec, state: RunState, command: Command) -> Decision:
    """The events that `command` leads to by itself, or why it is turned down. Changes nothing."""
    if isinstance(command, Start):
        return _start(spec, state, command)
    if not state.phase:
        return Rejected(Rejection.NOT_STARTED, "the run has not been started")
    match command:
        case Reply() | ProbeAnswer() | Report():
            return _evidence(spec, state, command)
        case Intend():
            return _intend(spec, state, command)
        case Unfreezable():
            return _unfreezable(spec, state, command)
        case Send():
            return _send(spec, state, command)
        case BeginProbe():
            return _begin_probe(spec, state, command)
        case Wake():
            return ()
        case Lost():
            keys = command.keys
            events = [*lost(spec, state, command.at, keys), *lost_probes(state, keys)]
            return tuple(events) or Rejected(Rejection.NOTHING_DUE, "nothing was in flight")
        case Cancel():
            return _cancel(spec, state, command)
        case Decide():
            answer = decided(spec, state, command)
            return answer if isinstance(answer, Rejected) else tuple(answer)
        case Signal():
            answer = signalled(spec, state, command)
            return answer if isinstance(answer, Rejected) else tuple(answer)
        case Resolve():
            answer = resolved(spec, state, command)
            return answer if isinstance(answer, Rejected) else tuple(answer)
        case TakeTurn():
            return taken(state)
        case Park():
            return parked(state, command)
        case _:
            assert_never(command)


def _start(spec: SagaSpec, state: RunState, command: Start) -> Decision:
    if state.phase:
        return Rejected(Rejection.ALREADY_STARTED, f"run {state.run_id} has been started before")
    deadline_at = None if spec.deadline is None else command.at + spec.deadline
    turn = (TurnTaken(),) if command.free and command.resource is not None else ()
    return (
        Started(
            run_id=command.run_id,
            instance=command.instance,
            tenant=command.tenant,
            saga=spec.name,
            saga_version=spec.version,
            definition=spec.digest,
            input=command.input,
            deadline_at=deadline_at,
            actor=command.actor,
            resource=command.resource,
        ),
        *turn,
    )


def _evidence(spec: SagaSpec, state: RunState, command: Reply | ProbeAnswer | Report) -> Decision:
    action = state.actions.get(command.key)
    if action is None:
        return Rejected(
            Rejection.UNKNOWN_ACTION, f"no action of this run has the key {command.key}"
        )
    answer: list[Event] | Rejected
    if isinstance(command, Report) and not action.attempts:
        # Whoever says that it has happened means something else: a byte of it never left.
        return Rejected(Rejection.NOT_POSSIBLE, f"nothing of {command.key} has been sent")
    if isinstance(command, Reply):
        answer = replied(spec, state, action, command)
    elif isinstance(command, ProbeAnswer):
        answer = ended_probe(state, action.key, answered(spec, state, action, command))
    elif command.digest != action.digest:
        return Rejected(
            Rejection.WRONG_DIGEST, f"{command.key} was intended with digest {action.digest}"
        )
    elif command.result == "landed":
        answer = landed(spec, state, action, command.attempt, command.receipt, "report")
    elif command.result in ("refused", "not_sent"):
        reply = Reply(
            at=command.at,
            key=command.key,
            attempt=command.attempt,
            result=command.result,
            error=command.error,
        )
        answer = replied(spec, state, action, reply)
    else:
        answer = Rejected(Rejection.NOTHING_NEW, f"{command.result!r} says nothing about it")
    return answer if isinstance(answer, Rejected) else tuple(answer)


def _intend(spec: SagaSpec, state: RunState, command: Intend) -> Decision:
    intended = frozen_intent(spec, state, command, command.target, command.digest, command.args)
    if isinstance(intended, Rejected):
        return intended
    step = _step(spec, state, command)
    if command.of_key is None and step.approval is not None:
        asked = asked_for(spec, state, step.approval, intended.key, command.version, command.at)
        return intended, asked
    if command.of_key is None and holds(state, step, intended.target):
        return (intended,)  # sent when the unknown one about the same target is settled
    contract = step.effect if command.of_key is None else step.compensation
    assert contract is not None, step.name
    if command.of_key is None and too_much(spec, state, contract, command.args):
        return (intended,)  # sent when the budget allows it
    sending = Sending(
        key=intended.key,
        attempt=1,
        fence=command.fence,
        send_by=command.at + contract.timeout,
        threaded=command.threaded,
    )
    return intended, sending


def _step(spec: SagaSpec, state: RunState, command: Intend) -> StepSpec:
    if command.of_key is not None:
        return step_of(spec.steps, state.actions[command.of_key])
    return spec.steps[command.step].choice(command.choice)


def _unfreezable(spec: SagaSpec, state: RunState, command: Unfreezable) -> Decision:
    """It was due and cannot even be asked for: nothing leaves, the step counts as refused."""
    intended = frozen_intent(spec, state, command, "-", "-", None)
    if isinstance(intended, Rejected):
        return intended
    refused = Refused(
        key=intended.key, attempt=0, error=command.error, settles=True, due=command.at
    )
    return intended, refused


def _send(spec: SagaSpec, state: RunState, command: Send) -> Decision:
    action = state.actions.get(command.key)
    if action is None:
        return Rejected(
            Rejection.UNKNOWN_ACTION, f"no action of this run has the key {command.key}"
        )
    if not sends(spec, state, action, command.at):
        return Rejected(Rejection.NOT_DUE, f"{command.key} is not to be sent now")
    send_by = command.at + contract_of(spec, action).timeout
    return (
        Sending(
            key=action.key,
            attempt=action.attempts + 1,
            fence=command.fence,
            send_by=send_by,
            threaded=command.threaded,
        ),
    )


def _begin_probe(spec: SagaSpec, state: RunState, command: BeginProbe) -> Decision:
    action = state.actions.get(command.key)
    if action is None or not asks(spec, state, action, command.at):
        return Rejected(Rejection.NOT_DUE, f"{command.key} is not to be asked about now")
    return (ProbeBegun(key=command.key),)


def _cancel(spec: SagaSpec, state: RunState, command: Cancel) -> Decision:
    if state.phase == "ended":
        return Rejected(Rejection.ENDED, f"run {state.run_id} has ended as {state.outcome}")
    if state.phase == "compensating":
        return Rejected(Rejection.WINDING_DOWN, f"run {state.run_id} is winding down already")
    if state.past_pivot:
        name = next((step.name for step in spec.steps if is_final(state, step)), "a pivot")
        return Rejected(
            Rejection.POINT_OF_NO_RETURN,
            f"step {name} has happened, and from there on the run only goes forward",
        )
    if state.cancel is not None:
        text = "a cancel is recorded already; a step that cannot be taken back is settled first"
        return Rejected(Rejection.WINDING_DOWN, text)
    return (CancelRecorded(reason=command.reason, actor=command.actor),)
