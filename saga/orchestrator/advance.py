"""From what has become known about a run to its next record: decide, plan, decide, until it rests.

Everything that follows now goes into one record: the results that came in, what they mean, and the
next intents with their sendings. The calls start when it is durable.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from saga.journal.records import PAYLOAD_LIMIT
from saga.machine.action_events import Sending
from saga.machine.commands import (
    BeginProbe,
    Command,
    Intend,
    Rejected,
    Send,
    Unfreezable,
    Wake,
    name_of,
)
from saga.machine.decide import EVENTS_MAX, transition
from saga.machine.events import CaseOpened, Event
from saga.machine.plan import (
    AskNow,
    BeginNow,
    BeginProbeNow,
    DecideNow,
    Plan,
    SendNow,
    calls_due,
    plan,
)
from saga.machine.state import FORWARD, UNDO, step_of
from saga.machine.ways import contract_of
from saga.orchestrator.compiled import Unfreezable as CannotFreeze
from saga.orchestrator.held import Due, Held, Outgoing
from saga.orchestrator.letters import Letter

__all__ = ["Advance", "Brake", "advance"]


class Brake(Protocol):
    """Which calls are not to be made now."""

    @property
    def released(self) -> bool:
        """Nothing is stopped or paused."""

    def begin(self, run: Held) -> None:
        """A run is about to be decided on."""

    def blocks(self, run: Held, due: Due) -> bool:
        """Whether a call that is due is not to be made."""

    def blocks_probe(self, run: Held, key: str) -> bool:
        """Whether an action is not to be asked about."""


# What an intent and a sending take in a record beside arguments: the longest keys and names.
_INTENT_BYTES, _SENDING_BYTES = 2048, 512

_log = logging.getLogger("saga")


@dataclass(slots=True)
class Advance:
    """What came of it: the events of one record, the sendings in them, and what is due then."""

    at: float
    events: list[Event] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    sendings: list[Sending] = field(default_factory=list)
    ask: list[str] = field(default_factory=list)  # keys to probe
    begun: set[str] = field(default_factory=set)  # those whose probe is on record with this one
    due: float | None = None
    blocked: bool = False  # something is due that is not to be done now
    more: bool = False  # something is due that did not fit this record
    follows: bool = True  # something may follow without any call: time has passed, or see `_apply`
    full: bool = False  # so much has followed that the rest goes into the next record

    def outgoing(self, now: float, local: float) -> list[Outgoing]:
        """The calls that its record begins; now on our monotonic clock, and on this machine's."""
        mine, theirs = now - self.at, local - self.at
        return [
            Outgoing(one.key, one.attempt, one.send_by, mine + one.send_by, theirs + one.send_by)
            for one in self.sendings
        ]

    def unasked(self, held: Held) -> list[str]:
        """The keys to probe now: no answer is on its way, or waits to be decided."""
        asked = {letter.asked for letter in held.mailbox} | held.probes | self.begun
        return [key for key in self.ask if key not in asked]

    def news(self) -> list[str]:
        """One line per case opened, to be logged once it is durable."""
        return [
            f"case {event.case} opened ({event.case_kind}): {event.text}"
            for event in self.events
            if isinstance(event, CaseOpened)
        ]

    def idle(self, held: Held) -> bool:
        """Nothing is under way for the run, and nothing waits."""
        busy = held.calls or held.probes or held.mailbox or self.sendings or self.ask
        return not (busy or self.blocked or self.more)

    def is_due_for_nothing(self, held: Held) -> bool:
        """A client's record has made it due, or was its last one, and there is nothing to do.

        A record without events says so; else the run would stay due, or ours, for ever.
        """
        due = held.due is None or held.due <= self.at
        return due and self.idle(held) and (self.due is None or self.due > self.at)


def advance(held: Held, letters: Sequence[Letter], at: float, brake: Brake) -> Advance:
    """Decide the letters, then everything that is due at `at`. Changes the state.

    What the brake holds back stays due.
    """
    step = Advance(at)
    brake.begin(held)
    for letter in letters:
        _apply(held, step, letter.command(at))
    room = PAYLOAD_LIMIT
    while True:
        planned = (plan if step.follows else calls_due)(held.saga.spec, held.state, at)
        step.ask, step.blocked, step.more = [], False, False
        progress = False
        for todo in planned.todo:
            if isinstance(todo, AskNow):
                _ask(held, step, todo.key, brake)
                continue
            if _is_blocked(held, todo, brake):
                step.blocked = True
                continue
            if room <= 0 or step.full:
                step.more = True
                continue
            command, size = _command(held, todo, at)
            if size > room < PAYLOAD_LIMIT:
                step.more, room = True, 0
                continue
            room -= size
            applied = _apply(held, step, command)
            if applied and isinstance(command, BeginProbe):
                step.begun.add(command.key)
            progress = applied or progress
        if not progress:
            step.due = _due(held, step, planned)
            return step


def _ask(held: Held, step: Advance, key: str, brake: Brake) -> None:
    if key in held.probes or not brake.blocks_probe(held, key):
        step.ask.append(key)
    else:
        step.blocked = True


def _is_blocked(
    held: Held, todo: BeginNow | SendNow | BeginProbeNow | DecideNow, brake: Brake
) -> bool:
    if isinstance(todo, BeginProbeNow):
        return brake.blocks_probe(held, todo.key)
    new = isinstance(todo, BeginNow) and todo.generation == 1 and not todo.choice
    if new and brake.released and not held.saga.bounded:
        return False  # most of the time
    return not isinstance(todo, DecideNow) and brake.blocks(held, _due_call(held, todo))


def _due_call(held: Held, todo: BeginNow | SendNow) -> Due:
    state, saga = held.state, held.saga
    if isinstance(todo, SendNow):
        action = state.actions[todo.key]
        step, side = step_of(saga.spec.steps, action), saga.step_of(action)
        return Due(step, side.side(action.direction), action.direction, action)
    if todo.of_key is None:
        step = saga.spec.steps[todo.step].choice(todo.choice)
        side = saga.choice(todo.step, todo.choice)
        return Due(step, side.side(FORWARD), FORWARD, state.newest(todo.step, todo.item))
    of = state.actions[todo.of_key]
    step, side = step_of(saga.spec.steps, of), saga.step_of(of)
    return Due(step, side.side(UNDO), UNDO, state.undo_of(of))


def _command(
    held: Held, todo: BeginNow | SendNow | BeginProbeNow | DecideNow, at: float
) -> tuple[Command, int]:
    """The command that does what is due, and the bytes that it takes in the record at most."""
    if isinstance(todo, DecideNow):
        return Wake(at=at), 0
    if isinstance(todo, BeginProbeNow):
        return BeginProbe(at=at, key=todo.key), _SENDING_BYTES
    if isinstance(todo, SendNow):
        action = held.state.actions[todo.key]
        threaded = held.saga.step_of(action).side(action.direction).threaded
        return Send(at=at, fence=held.fence, key=todo.key, threaded=threaded), _SENDING_BYTES
    of = None if todo.of_key is None else held.state.actions[todo.of_key]
    choice = todo.choice if of is None else of.choice
    side = held.saga.choice(todo.step, choice).side(FORWARD if of is None else UNDO)
    try:
        frozen = side.freeze(held.state, of, todo.item)
    except CannotFreeze as fault:
        return (
            Unfreezable(
                at=at,
                step=todo.step,
                of_key=todo.of_key,
                generation=todo.generation,
                error=fault.error,
                item=todo.item,
                choice=todo.choice,
            ),
            _INTENT_BYTES,
        )
    command = Intend(
        at=at,
        fence=held.fence,
        step=todo.step,
        of_key=todo.of_key,
        generation=todo.generation,
        target=frozen.target,
        digest=frozen.digest,
        args=frozen.args,
        threaded=side.threaded,
        version=held.version + 1,
        item=todo.item,
        choice=todo.choice,
    )
    return command, frozen.size + _INTENT_BYTES


def _apply(held: Held, step: Advance, command: Command) -> bool:
    decision = transition(held.saga.spec, held.state, command)
    if isinstance(decision, Rejected):
        _log.debug("run %s: %s: %s", held.run_id, name_of(command), decision.text)
        return False
    step.events += decision
    step.follows = len(decision) >= EVENTS_MAX
    step.full = step.full or step.follows
    step.commands.append(name_of(command))
    step.sendings += [event for event in decision if isinstance(event, Sending)]
    return True


def _due(held: Held, step: Advance, planned: Plan) -> float | None:
    """When to look again. A probe under way has its effect's time-out to answer."""
    if not step.ask or step.blocked or step.more:
        return planned.due
    timeouts = [contract_of(held.saga.spec, held.state.actions[key]).timeout for key in step.ask]
    return step.at + max(timeouts)
