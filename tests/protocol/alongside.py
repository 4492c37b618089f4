"""The product's machine, walked alongside the model: is it true to what is built?

Every history of a small setting is played to both. What the owner does next is asked of the
product (`saga.machine.plan`): the model must allow it, and afterwards both must agree about the
run, every action and every case. What comes from elsewhere (replies, crashes, reports, a person,
time) is taken from the model and told to the product as the command that it is. The product may do
less than the model allows, and later; it may do nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from saga.definition.spec import SagaSpec
from saga.machine.commands import (
    Cancel,
    Command,
    Intend,
    Lost,
    ProbeAnswer,
    Rejected,
    Reply,
    Report,
    Resolve,
    Send,
    Start,
    Wake,
)
from saga.machine.decide import transition
from saga.machine.plan import AskNow, BeginNow, BeginProbeNow, DecideNow, SendNow, Todo, plan
from saga.machine.state import RunState, new_state
from tests.protocol.agreement import differences, key_in, name_of, receipt_of
from tests.protocol.machine import Machine
from tests.protocol.moves import Move, Record
from tests.protocol.names import Key
from tests.protocol.outside import tick
from tests.protocol.processes import COUNT
from tests.protocol.product import TICK, saga_of, twin_of
from tests.protocol.search import start, transitions, without_collecting
from tests.protocol.setting import Setting
from tests.protocol.states import State
from tests.protocol.world import World

__all__ = ["Alongside", "Difference"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the two part, and the way there."""

    what: str
    history: tuple[str, ...]

    def __str__(self) -> str:
        return "\n    ".join((self.what, *self.history))


@dataclass(slots=True)
class _Pair:
    """The same moment in both. `shown`: case, version and time of the person's look."""

    state: State
    run: RunState
    now: float
    history: tuple[str, ...]
    shown: tuple[str, int, float] = ("", 0, 0.0)

    def then(self, label: str, state: State | None = None) -> _Pair:
        return _Pair(
            self.state if state is None else state,
            twin_of(self.run),
            self.now,
            (*self.history, label),
            self.shown,
        )


class Alongside:
    """A walk through all histories of a setting."""

    def __init__(self, setting: Setting, machine: type[Machine] = Machine) -> None:
        self.model = machine(setting)
        self.spec: SagaSpec = saga_of(setting)
        self.differences: list[Difference] = []
        self.pairs = 0
        self.commands: dict[str, int] = {}  # how often each was told to the product and accepted

    def walk(self, limit: int = 10) -> None:
        """Until all has been seen, or `limit` differences."""
        run = new_state(self.spec)
        begin = Start(at=0.0, run_id="run", instance="i", tenant="", input=None, actor=None)
        transition(self.spec, run, begin)
        waiting = deque([_Pair(start(self.model.setting), run, 0.0, ())])
        seen: set[Hashable] = set()
        with without_collecting():
            while waiting and len(self.differences) < limit:
                pair = waiting.popleft()
                place = (pair.state, _hidden(pair.run))
                if place not in seen:
                    seen.add(place)
                    waiting.extend(self._onward(pair))
        self.pairs = len(seen)

    def _onward(self, pair: _Pair) -> Iterator[_Pair]:
        moves = [one.move for one in transitions(self.model, pair.state)]
        owner = self._owner(pair.state)
        due = plan(self.spec, pair.run, pair.now).todo if owner is not None else ()
        for todo in due:
            if (after := self._done(pair, todo, owner or 0, moves)) is not None:
                yield after
        busy = bool(due)
        for move in moves:
            planned = move.record is not None and move.record.command in _PLANNED
            if planned or move.kind == "time":
                continue
            busy = busy or move.urgent
            if (after := self._happens(pair, move)) is not None:
                yield after
        w = World(self.model, pair.state)
        if not busy and tick(w):
            after = pair.then("a tick passes", w.freeze())
            after.now += TICK
            yield after

    def _owner(self, state: State) -> int | None:
        w = World(self.model, state)
        owners = [p for p in range(COUNT) if self.model.may_append(w, w.processes[p])]
        return owners[0] if owners else None

    # What the owner does, in the product's order

    def _done(self, pair: _Pair, todo: Todo, owner: int, moves: list[Move]) -> _Pair | None:
        if isinstance(todo, DecideNow):
            after = pair.then(f"P{owner} decides what has become due")
            return self._told(pair, after, Wake(at=pair.now))
        record = self._record(pair, todo)
        fitting = [
            move
            for move in moves
            if move.record is not None
            and (move.record.command, move.record.key) == (record.command, record.key)
            and move.kind == "own"
        ]
        if fitting:
            w = World(self.model, pair.state)
            fitting[0].change(w)
            record = fitting[0].record or record
            after = pair.then(fitting[0].label, w.freeze())
        elif record.command == "probe":
            after = pair.then(f"P{owner} probes {record.key}: {record.result}, too early to count")
        else:
            self._differ(pair, f"the model does not allow: {record.command} {record.key}")
            return None
        return self._told(pair, after, self._command(pair, record))

    def _record(self, pair: _Pair, todo: Todo) -> Record:
        match todo:
            case BeginNow(step=step, of_key=of_key, generation=generation):
                if of_key is None:
                    return Record("intend", Key(step + 1, generation))
                of = pair.run.actions[of_key]
                return Record("intend", Key(step + 1, of.generation, generation))
            case SendNow(key=name):
                return Record("send", key_in(pair.run, name))
            case AskNow(key=name):
                answer = "absent" if self.model.setting.probe == "answers" else "cannot_say"
                return Record("probe", key_in(pair.run, name), result=answer)
            case BeginProbeNow() | DecideNow():
                raise AssertionError("it is no call")

    # What comes from elsewhere

    def _happens(self, pair: _Pair, move: Move) -> _Pair | None:
        w = World(self.model, pair.state)
        move.change(w)
        after = pair.then(move.label, w.freeze())
        if w.look is not None and pair.state.look is None:
            action = pair.run.actions[name_of(pair.run, w.look.key)]
            case = pair.run.cases[action.case or ""]
            after.shown = (case.id, case.version, pair.now)
        if move.record is None:
            return after
        return self._told(pair, after, self._command(pair, move.record))

    def _told(self, pair: _Pair, after: _Pair, command: Command) -> _Pair | None:
        """The product decides; then both must agree, on what follows too."""
        answer = transition(self.spec, after.run, command)
        if isinstance(answer, Rejected):
            after.history = (*after.history, f"(the product: {answer.reason})")
        else:
            name = type(command).__name__
            self.commands[name] = self.commands.get(name, 0) + 1
        self._open_cases(after)
        differing = differences(after.state, after.run)
        if differing:
            self._differ(after, "; ".join(differing))
            return None
        return after

    def _open_cases(self, after: _Pair) -> None:
        """A dead end is a case in the same record; in the model it is a move of its own."""
        w = World(self.model, after.state)
        for key, action in list(w.actions.items()):
            if action.case:
                continue
            ways = () if w.superseded(key) else self.model.ways(w, 0, key, action)
            watching = self.model.watching(w, key, action) if action.watched else ()
            for move in (*ways, *watching):
                opens = move.record is not None and move.record.command == "wake"
                if opens and after.run.actions[name_of(after.run, key)].case is not None:
                    move.change(w)
        after.state = w.freeze()

    def _command(self, pair: _Pair, record: Record) -> Command:
        at = pair.now
        match record.command:
            case "intend" | "send":
                return self._sending(pair, record)
            case "reply" | "report" | "probe":
                return self._evidence(pair, record)
            case "resolve":
                return self._verdict(pair, record)
            case "cancel":
                return Cancel(at=at, reason="because", actor=None)
            case "lost" | "wake":
                return Lost(at=at) if record.command == "lost" else Wake(at=at)

    def _sending(self, pair: _Pair, record: Record) -> Command:
        at, key = pair.now, record.key
        assert key is not None
        if record.command == "send":
            return Send(at=at, fence=1, key=name_of(pair.run, key), threaded=False)
        return Intend(
            at=at,
            fence=1,
            step=key.step - 1,
            of_key=name_of(pair.run, key.forward) if key.undo else None,
            generation=key.lives,
            target="-",
            digest=_DIGEST,
            args=None,
            threaded=False,
        )

    def _evidence(self, pair: _Pair, record: Record) -> Command:
        at, attempt, result = pair.now, record.attempt, record.result
        assert record.key is not None
        name, receipt = name_of(pair.run, record.key), receipt_of(record.receipt)
        if record.command == "reply":
            return Reply(at=at, key=name, attempt=attempt, result=result, receipt=receipt)
        if record.command == "probe":
            answer = result or "cannot_say"
            return ProbeAnswer(at=at, key=name, started=at, answer=answer, receipt=receipt)
        return Report(
            at=at, key=name, digest=_DIGEST, attempt=attempt, result=result, receipt=receipt
        )

    def _verdict(self, pair: _Pair, record: Record) -> Command:
        case, version, looked_at = pair.shown
        return Resolve(
            at=pair.now,
            case=case,
            verdict=record.result,
            actor="somebody",
            reason="because",
            case_version=version,
            looked_at=looked_at,
            receipt=receipt_of(0) if record.result == "landed" else None,
            evidence="seen",
        )

    def _differ(self, pair: _Pair, what: str) -> None:
        self.differences.append(Difference(what, pair.history))


_DIGEST = "of everything"
_PLANNED = ("intend", "send", "probe", "wake")


def _hidden(run: RunState) -> Hashable:
    """What the product remembers and the model does not: it chooses the next way by it."""
    return tuple(
        (key, one.asked, one.last_answer, one.resends, one.not_sent)
        for key, one in run.actions.items()
    )
