"""What a result of an attempt, a probe or a report means for its action.

A reply settles its own attempt; an action has not landed only when every attempt is settled so.
Proof that something landed counts whenever and from whomever it comes.
"""

from __future__ import annotations

from collections.abc import Collection

from saga.definition.spec import ContractSpec, SagaSpec
from saga.machine.action_events import (
    Absent,
    Landed,
    LandedLate,
    NotSent,
    Probed,
    Refused,
    Satisfied,
    SecondEffect,
    Unknown,
    Watched,
)
from saga.machine.bounds import absence_bound, under_way_until
from saga.machine.commands import ProbeAnswer, Rejected, Rejection, Reply
from saga.machine.events import Event
from saga.machine.facts import Error, Json
from saga.machine.follow import case_for, settled_by_evidence
from saga.machine.forward import is_on_path
from saga.machine.moves import Next
from saga.machine.state import FORWARD, UNDO, Action, RunState, step_of
from saga.machine.waits import wait_before
from saga.machine.watching import watch_until
from saga.machine.ways import contract_of, next_move

__all__ = ["answered", "landed", "lost", "replied"]


def landed(
    spec: SagaSpec, state: RunState, action: Action, attempt: int, receipt: Json, source: str
) -> list[Event] | Rejected:
    """Proof that `action` happened."""
    if _is_known(action, receipt):
        return Rejected(Rejection.NOTHING_NEW, f"{action.key} is already recorded so")
    if _counts(state, action):
        number = attempt if 0 < attempt <= action.attempts else 0  # others may not know it
        return [
            Landed(key=action.key, attempt=number, receipt=receipt, source=source),
            *_closing(state, action),
        ]
    if _comes_late(action):
        late = LandedLate(key=action.key, receipt=receipt, source=source)
        stays = step_of(spec.steps, action).irreversible  # a person must answer for it
        cases = [case_for(spec, state, action, "late")] if stays else []
        return [late, *_closing(state, action), *cases]
    second: list[Event] = [SecondEffect(key=action.key, receipt=receipt, source=source)]
    if action.case is not None and state.cases[action.case].kind == "late":
        return second  # the case is open already, and shows this too
    return [*second, *_closing(state, action), case_for(spec, state, action, "late")]


def _is_known(action: Action, receipt: Json) -> bool:
    """Equal evidence says nothing new, however often it comes."""
    return (action.state == "landed" and action.receipt == receipt) or receipt in action.others


def _counts(state: RunState, action: Action) -> bool:
    """The run can still take this effect into its course: it goes on from it, or undoes it."""
    return (
        (action.direction == UNDO or _is_wanted(state, action))
        and action.state not in ("landed", "accepted")
        and not action.superseded
        and not action.undone
        and action.undoing is None  # it stays as its undo has found it
    )


def _is_wanted(state: RunState, action: Action) -> bool:
    """The run has not ended without it, and has not gone another way."""
    return state.phase != "ended" and is_on_path(state, state.steps[action.step])


def _comes_late(action: Action) -> bool:
    """The run has gone on as if it had not happened, and nothing has taken it back yet."""
    settled = action.state in ("landed", "accepted")
    return action.direction == FORWARD and not (settled or action.undone or action.undoing)


def _closing(state: RunState, action: Action) -> list[Event]:
    """What settles an action closes its case; a verdict that comes later is stale."""
    if action.case is None or state.cases[action.case].kind == "late":
        return []
    return [settled_by_evidence(action.case, "settled by evidence")]


def replied(
    spec: SagaSpec, state: RunState, action: Action, reply: Reply
) -> list[Event] | Rejected:
    """What became of an attempt, from the process that made the call; in time or late."""
    if reply.result == "landed":
        return landed(spec, state, action, reply.attempt, reply.receipt, "reply")
    attempt = action.open.get(reply.attempt)
    if attempt is None:
        text = f"attempt {reply.attempt} of {action.key} is settled"
        return Rejected(Rejection.STALE_ATTEMPT, text)
    if reply.result == "satisfied" and action.direction == FORWARD and len(action.open) == 1:
        satisfied = Satisfied(key=action.key, attempt=reply.attempt, evidence=reply.receipt)
        return [satisfied, *_closing(state, action)]
    contract, error = contract_of(spec, action), _error_of(reply)
    if reply.result in ("refused", "not_sent", "satisfied"):
        return _did_nothing(state, action, contract, reply, error)
    if not attempt.in_flight and not attempt.running:
        text = f"attempt {reply.attempt} of {action.key} is known to be unknown"
        return Rejected(Rejection.NOTHING_NEW, text)
    wait = wait_before(contract.retry, action.key, action.resends + 1)
    return [
        Unknown(
            key=action.key,
            attempt=reply.attempt,
            error=error,
            running=reply.running,
            # A call that went on after its time could send until it returned.
            until=max(attempt.send_by, reply.at) if attempt.running else attempt.send_by,
            conflict=reply.conflict,
            interrupted="shutdown" if reply.interrupted else "",
            repeats=_repeats(action, error) and not reply.interrupted,
            due=reply.at + wait,
        )
    ]


def _error_of(reply: Reply) -> Error:
    if reply.result == "satisfied":
        text = "it is so already; an attempt whose end nobody knows may have made it so"
        return {"type": "Satisfied", "text": text, "leaves": []}
    return reply.error or {"type": "unknown", "text": "", "leaves": []}


def _did_nothing(
    state: RunState, action: Action, contract: ContractSpec, reply: Reply, error: Error
) -> list[Event]:
    """This attempt is settled; others under its key only by a refusal that speaks for all."""
    key, attempt, provider = action.key, reply.attempt, contract.provider
    event: Event
    settles = len(action.open) == 1
    if reply.result == "refused":
        for_all = provider.honours_keys and provider.replays_refusals
        due = reply.at + wait_before(contract.retry, key, action.generation)
        event = Refused(key=key, attempt=attempt, error=error, settles=for_all, due=due)
        settles = settles or for_all
    else:
        wait = wait_before(contract.retry, key, action.not_sent + 1)
        due = reply.at + max(wait, reply.retry_after or 0.0)
        event = NotSent(key=key, attempt=attempt, error=error, due=due)
    return [event, *_closing(state, action)] if settles else [event]


def _repeats(action: Action, error: Error) -> bool:
    """The provider has said so before; a time-out is nothing that it has said."""
    return error == action.error and error["type"] != "TimeoutError"


def lost(spec: SagaSpec, state: RunState, now: float, keys: Collection[str] | None) -> list[Event]:
    """The process that made the calls is dead by `now`: what it had in flight is unknown.

    `keys`: of these actions; `None`: of all.
    """
    error: Error = {
        "type": "OwnerLost",
        "text": "the orchestrator that made this call is gone",
        "leaves": [],
    }
    return [
        Unknown(
            key=action.key,
            attempt=attempt.number,
            error=error,
            running=False,
            # What cannot be cut off could send as long as its process lived.
            until=max(attempt.send_by, now)
            if attempt.threaded or attempt.running
            else attempt.send_by,
            conflict=False,
            interrupted="crash",
            repeats=False,
            due=now,
        )
        for action in state.active.values()
        for attempt in action.open.values()
        if (keys is None or action.key in keys) and (attempt.in_flight or attempt.running)
    ]


def answered(
    spec: SagaSpec, state: RunState, action: Action, probe: ProbeAnswer
) -> list[Event] | Rejected:
    """What the provider said when it was asked by key."""
    if probe.answer == "landed":
        found = landed(spec, state, action, 0, probe.receipt, "probe")
        if not action.ends_watch(probe.started):
            known_already = isinstance(found, Rejected) and action.wish == "probe"
            return [_asked_and_known(spec, action, probe)] if known_already else found
        # What is found is all that there is to find under this key.
        known = [] if isinstance(found, Rejected) else found
        return [*known, Watched(key=action.key, read_at=probe.started)]
    if probe.answer == "absent" and action.ends_watch(probe.started):
        return [Watched(key=action.key, read_at=probe.started), *_unwatched(state, action)]
    unsettled = action.state == "unknown" or _is_read_again(spec, state, action, probe.at)
    watched = action.ends_watch(probe.started)
    if not (unsettled or watched) and action.wish != "probe":
        return Rejected(Rejection.NOTHING_NEW, f"{action.key} has been settled or sent meanwhile")
    contract = contract_of(spec, action)
    visible_after = contract.provider.visible_after or 0.0
    bound = absence_bound(action, contract.provider)
    late_enough = bound is not None and probe.started >= bound
    counted = unsettled and probe.answer == "absent" and late_enough
    first = action.first_absent
    if counted and first is not None and probe.started >= first + visible_after:
        absent = Absent(
            key=action.key,
            source="probe",
            read_at=probe.started - visible_after,
            again=_again(action, contract),
            watch=watch_until(spec, action),
        )
        return [absent, *_closing(state, action)]
    wait = wait_before(contract.retry, action.key, action.answers + 1)
    due = probe.started + visible_after if counted else probe.at + wait
    works = probe.answer == "in_progress" and probe.started < under_way_until(action, contract)
    answer = probe.answer if probe.answer in ("absent", "in_progress") else "cannot_say"
    return [
        Probed(
            key=action.key,
            answer=answer,
            started=probe.started,
            counted=counted,
            spent=not (counted or works),
            reason=probe.reason,
            due=max(due, probe.at),
        )
    ]


def _asked_and_known(spec: SagaSpec, action: Action, probe: ProbeAnswer) -> Probed:
    """A person wanted it asked, and it said what is on record: that ends the wish."""
    wait = wait_before(contract_of(spec, action).retry, action.key, action.answers + 1)
    return Probed(
        key=action.key,
        answer="landed",
        started=probe.started,
        counted=False,
        spent=False,
        reason="that is on record already",
        due=probe.at + wait,
    )


def _again(action: Action, contract: ContractSpec) -> str:
    """How it is sent again: under its key where that is honoured, unless its error is kept too."""
    provider, retry = contract.provider, contract.retry
    kept = provider.replays_errors and action.repeats and action.generation < retry.generations
    return "same" if provider.honours_keys and not kept else "new"


def _unwatched(state: RunState, action: Action) -> list[Event]:
    """The last reading closes the case that asked for it; one about a second effect stays open."""
    if action.case is None or action.others:
        return []
    return [settled_by_evidence(action.case, "the provider has said that nothing landed late")]


def _is_read_again(spec: SagaSpec, state: RunState, action: Action, now: float) -> bool:
    """The proof of its absence is too old to send it again, also where a person wants it sent."""
    if action.state != "absent" or action.wish not in (None, "same"):
        return False
    move = next_move(spec, state, action, now)
    return move is not None and move.next is Next.PROBE
