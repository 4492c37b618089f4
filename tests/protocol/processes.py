"""Two orchestrators: they claim, record, call, record; they die, sleep and wake up again."""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol import laws
from tests.protocol.moves import Move, Record
from tests.protocol.states import NOBODY, Call, Message, Process
from tests.protocol.world import World

__all__ = ["COUNT", "process_moves"]

COUNT = 2


def process_moves(w: World, p: int) -> Iterator[Move]:
    """All that the process `p` may do, and what may happen to it."""
    process = w.processes[p]
    if not process.fence:
        yield from _claims(w, p)
        return
    if w.budget.crash:
        yield Move(f"P{p} crashes", lambda w: _crash(w, p), "fault")
    appends = w.machine.may_append(w, process)
    if not appends and not process.calls:
        yield Move(
            f"P{p} wakes, finds its beat refused, drops its memory",
            lambda w: w.processes.__setitem__(p, Process()),
        )
    for call in process.calls:
        yield from _call_moves(w, p, call)
    if appends:
        for planned in w.machine.plan(w, p):
            yield from _recorded(w, p, planned)


def _crash(w: World, p: int) -> None:
    """What it had in flight is unknown from now on; its requests are on their way all the same."""
    w.spend(crash=1)
    w.processes[p] = Process()
    if w.run.owner == p:
        w.set_run(owner=NOBODY)


# Ownership


def _claims(w: World, p: int) -> Iterator[Move]:
    """ "A survivor calls a process dead when its beat did not change, marks it dead, then claims
    its runs": at once if it died, on a budget if it only paused. A claim is no record."""
    if w.run.owner == NOBODY:
        if any(not other.fence for other in w.processes[:p]):
            return  # two idle processes are alike: the first claims
        yield Move(f"P{p} claims the run", lambda w: _claim(w, p), record=Record("lost"))
        if w.budget.doubt:
            yield Move(
                f"P{p} claims the run: commit in doubt, it was committed",
                lambda w: _claim_in_doubt(w, p),
                "fault",
            )
    elif w.run.owner != p and w.budget.pause and _is_worth_taking(w):
        yield Move(
            f"P{p} takes the paused P{w.run.owner} for dead, claims the run",
            lambda w: _claim(w, p),
            "fault",
            record=Record("lost"),
        )
    elif w.run.owner == p and w.machine.compares_owner_after_doubt:
        yield Move(
            f"P{p} finds that it owns the run, takes it up",
            lambda w: _take_up(w, p),
            record=Record("lost"),
        )


def _is_worth_taking(w: World) -> bool:
    """A pause tells something new only at the start, or while something is unsettled."""
    return not w.actions or any(action.status == "open" for action in w.actions.values())


def _claim(w: World, p: int) -> None:
    if w.run.owner != NOBODY:
        w.spend(pause=1)
    w.set_run(fence=w.machine.fence_of_claim(w.run.fence), owner=p)
    _take_up(w, p)


def _claim_in_doubt(w: World, p: int) -> None:
    w.spend(doubt=1)
    w.set_run(fence=w.machine.fence_of_claim(w.run.fence), owner=p)


def _take_up(w: World, p: int) -> None:
    w.processes[p] = Process(w.run.fence)


# Records


def _recorded(w: World, p: int, planned: Move) -> Iterator[Move]:
    def record(w: World) -> None:
        laws.append_of_owner(w, p)
        planned.change(w)
        _remember(w, p)

    yield planned._replace(label=f"P{p} {planned.label}", change=record)
    if planned.sends and w.budget.doubt:
        reads = w.machine.reads_after_doubt
        yield Move(
            f"P{p} {planned.label}: commit in doubt, it was not committed"
            + ("; a locking read says so" if reads else "; taken as committed"),
            lambda w: _not_committed(w, planned, reads=reads),
            "fault",
        )
    if planned.sends and not w.machine.commits_before_calling:
        yield Move(
            f"P{p} starts the call before it commits: {planned.label}",
            lambda w: _not_committed(w, planned, reads=False, doubt=0),
        )


def _not_committed(w: World, planned: Move, *, reads: bool, doubt: int = 1) -> None:
    """The journal is as before; whether a call is made is up to what the process believes."""
    w.spend(doubt=doubt)
    if not reads:
        journal = dict(w.actions)
        planned.change(w)
        w.actions = journal


def _remember(w: World, p: int) -> None:
    if not w.machine.checks_version:
        memory = tuple(sorted(w.actions.items()))
        w.processes[p] = w.processes[p]._replace(memory=memory)


# Calls: check, pause, first byte, reply or not, record


def _call_moves(w: World, p: int, call: Call) -> Iterator[Move]:
    owns = w.machine.may_append(w, w.processes[p])
    name = f"{call.key}#{call.attempt}"
    match call.stage:
        case "ready":
            yield Move(
                f"P{p} checks lease and send_by for {name}",
                lambda w: _check(w, p, call),
                urgent=owns,
            )
        case "cleared":
            late = " after send_by" if call.left < 0 else ""
            yield Move(
                f"P{p} sends the first byte of {name}{late}",
                lambda w: _first_byte(w, p, call),
                urgent=owns,
            )
            if w.budget.lost:
                yield Move(
                    f"P{p} cannot connect for {name}: not sent",
                    lambda w: _cannot_connect(w, p, call),
                    "fault",
                )
        case "waiting":
            yield from _waiting(w, p, call, name)
        case "answered":
            does = "records" if owns else "reports as evidence"
            nth = f" (receipt {call.receipt + 1})" if call.result == "landed" else ""
            yield Move(
                f"P{p} {does}: {name} {call.result}{nth}",
                lambda w: _record_result(w, p, call),
                urgent=owns,
                record=Record(
                    "reply" if owns else "report",
                    call.key,
                    call.attempt,
                    call.result,
                    call.receipt,
                ),
            )


def _check(w: World, p: int, call: Call) -> None:
    if not w.machine.holds_lease(w, w.processes[p]):
        w.drop_call(p, call)
    elif w.machine.is_in_time(call):
        laws.call_passes_check(w, p, call)
        w.set_call(p, call, stage="cleared")
    else:
        w.set_call(p, call, stage="answered", result="not_sent", left=0)


def _first_byte(w: World, p: int, call: Call) -> None:
    laws.first_byte(w, p, call)
    w.set_call(p, call, stage="waiting", left=0)
    slept = call.left < 0 and w.setting.sleeps != 0  # else nothing but a bug explains it
    w.messages.append(Message(call.key, call.attempt, p, w.setting.in_flight, broken=slept))


def _cannot_connect(w: World, p: int, call: Call) -> None:
    w.spend(lost=1)
    w.set_call(p, call, stage="answered", result="not_sent", left=0)


def _waiting(w: World, p: int, call: Call, name: str) -> Iterator[Move]:
    """ "The call is cut off then": it may be given up while its request is still on its way."""
    travels = any(
        (message.key, message.attempt, message.process) == (call.key, call.attempt, p)
        for message in w.messages
    )
    if travels and not w.budget.lost:
        return

    def give_up(w: World) -> None:
        w.spend(lost=int(travels))
        w.set_call(p, call, stage="answered", result="unknown")

    yield Move(
        f"P{p} times out on {name}" + (", its request is still on its way" if travels else ""),
        give_up,
        "fault" if travels else "own",
    )


def _record_result(w: World, p: int, call: Call) -> None:
    w.drop_call(p, call)
    if w.machine.may_append(w, w.processes[p]):
        laws.append_of_owner(w, p)
        memory = w.processes[p].memory
        if memory is not None and memory != tuple(sorted(w.actions.items())):
            laws.append_over_unread_record(w)
            w.actions = dict(memory)
        w.machine.reply(w, call.key, call.attempt, call.result, call.receipt)
        _remember(w, p)
    elif w.machine.takes_evidence(call.result):
        w.machine.reply(w, call.key, call.attempt, call.result, call.receipt)
