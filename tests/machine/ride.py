"""One run, driven by hand: a test says what happens, the laws are checked after every command.

Actions are named as people name them: `a`, `b#0` for an item, `undo a`. Time stands still until
`wait`.
"""

from __future__ import annotations

from typing import Any

from saga.definition.keys import place_of
from saga.definition.spec import SagaSpec
from saga.machine.action_events import Sending
from saga.machine.commands import (
    Cancel,
    Command,
    Lost,
    ProbeAnswer,
    Rejected,
    Reply,
    Report,
    Resolve,
    Start,
    Wake,
)
from saga.machine.decide import Decision, transition
from saga.machine.plan import AskNow, Plan, Todo, plan
from saga.machine.state import FORWARD, Action, Case, RunState, new_state
from tests.machine.fork import fork
from tests.machine.laws import check
from tests.machine.orders import START, order_for
from tests.machine.sagas import line

__all__ = ["ERROR", "Ride", "refusal", "sent"]

ERROR = {"type": "Broken", "text": "it broke", "leaves": []}


class Ride:
    """A run of `spec`, started at 0."""

    def __init__(self, spec: SagaSpec, start: Start = START) -> None:
        self.spec = spec
        self.state: RunState = new_state(spec)
        self.now = 0.0
        self.told: list[str] = []  # the kinds of all events
        self.tell(start)

    # What happens

    def tell(self, command: Command) -> Decision:
        """Give a command; the laws must hold after it."""
        before = fork(self.state)
        decision = transition(self.spec, self.state, command)
        if isinstance(decision, Rejected):
            assert self.state == before
        else:
            check(self.spec, before, command, decision, self.state)
            self.told += [event.kind for event in decision]
        return decision

    def go(self) -> list[str]:
        """Do all that is due now; the names of the actions that begin to be sent."""
        names: list[str] = []
        while orders := [todo for todo in self.plan.todo if not isinstance(todo, AskNow)]:
            decision = self.tell(self.order(orders[0]))
            assert not isinstance(decision, Rejected), decision.text
            names += [self.name(event.key) for event in decision if isinstance(event, Sending)]
        return names

    def order(self, todo: Todo) -> Command:
        """The command for what is due."""
        return order_for(self.state, todo, self.now)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def wait_until_due(self) -> None:
        """Let time pass to the next due time, if nothing is due now."""
        assert self.plan.due is not None
        self.now = max(self.now, self.plan.due)

    def reply(self, name: str, result: str, attempt: int = 0, **more: Any) -> Decision:
        """A call ends. Attempt 0 is the newest one."""
        action = self.action(name)
        more.setdefault("receipt", f"{name} done" if result == "landed" else None)
        more.setdefault("error", None if result == "landed" else ERROR)
        number = attempt or action.attempts
        return self.tell(Reply(at=self.now, key=action.key, attempt=number, result=result, **more))

    def done(self, *names: str) -> None:
        """Begin each of these and have it land."""
        for name in names:
            assert name in self.go()
            self.reply(name, "landed")

    def probe(self, name: str, answer: str, **more: Any) -> Decision:
        """The provider answers a question by key that was asked just now."""
        more.setdefault("receipt", f"{name} done" if answer == "landed" else None)
        more.setdefault("started", self.now)
        return self.tell(ProbeAnswer(at=self.now, key=self.action(name).key, answer=answer, **more))

    def report(self, name: str, **more: Any) -> Decision:
        """Evidence comes by another way."""
        action = self.action(name)
        more.setdefault("receipt", f"{name} done")
        more.setdefault("digest", action.digest)
        more.setdefault("attempt", 0)
        return self.tell(Report(at=self.now, key=action.key, **more))

    def lose(self) -> Decision:
        """The owner is gone."""
        return self.tell(Lost(at=self.now))

    def wake(self) -> Decision:
        return self.tell(Wake(at=self.now))

    def cancel(self) -> Decision:
        return self.tell(Cancel(at=self.now, reason="changed my mind", actor="ada"))

    def resolve(self, name: str, verdict: str, **more: Any) -> Decision:
        """A person decides on the open case of an action, having looked just now."""
        case = self.case(name)
        more.setdefault("case_version", case.version)
        more.setdefault("looked_at", self.now)
        return self.tell(
            Resolve(
                at=self.now,
                case=case.id,
                verdict=verdict,
                actor="ada",
                reason="I looked",
                **more,
            )
        )

    # Where it stands

    @property
    def plan(self) -> Plan:
        return plan(self.spec, self.state, self.now)

    @property
    def asks(self) -> list[str]:
        """The actions that the provider is to be asked about now."""
        return [self.name(todo.key) for todo in self.plan.todo if isinstance(todo, AskNow)]

    @property
    def phase(self) -> str:
        return str(self.state.outcome or self.state.phase)

    def action(self, name: str) -> Action:
        """The newest generation."""
        direction, _, place = name.rpartition(" ")
        step, _, item = place.partition("#")
        found = self.state.newest(self.spec.step(step).index, item or None)
        if direction:
            found = self.state.undo_of(found)
        assert found is not None, name
        return found

    def name(self, key: str) -> str:
        action = self.state.actions[key]
        place = place_of(self.spec.steps[action.step].name, action.item)
        return place if action.direction == FORWARD else f"undo {place}"

    def case(self, name: str) -> Case:
        """The open case of an action."""
        key = self.action(name).case
        assert key is not None, f"no open case of {name}"
        return self.state.cases[key]

    @property
    def cases(self) -> list[str]:
        """Kind and action of the open ones."""
        open_ones = [case for case in self.state.cases.values() if case.state == "open"]
        return [f"{case.kind} {self.name(case.key)}" for case in open_ones]


def sent(steps: str, *, at: float = 0.0) -> Ride:
    """A saga of one step whose first attempt is unknown at the end of its time."""
    ride = Ride(line(steps))
    ride.wait(at)
    assert ride.go() == ["a"]
    ride.wait(1)
    ride.reply("a", "unknown")
    return ride


def refusal(decision: Decision) -> str:
    """The name of a rejection; empty for events."""
    return decision.reason.value if isinstance(decision, Rejected) else ""
