"""Every way that a small saga can go, breadth first: the real machine against the outside.

A node is the state of the run, the outside and what may still go wrong. From each node every order
of the plan is carried out, every call comes to every end that the outside allows, time passes, and
a person, a client and a webhook do what they may. Two nodes with equal futures are one: times count
as distances from now. `Walk.run` checks the laws after every transition and raises `LawBroken` with
the shortest way to the place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from saga.definition.spec import SagaSpec
from saga.machine.commands import BeginProbe, Command, Intend, Rejected, Report, Send, Wake
from saga.machine.decide import decide, transition
from saga.machine.forward import is_on_path
from saga.machine.plan import BeginNow, BeginProbeNow, DecideNow, Plan, SendNow, plan
from saga.machine.state import FORWARD, RunState, new_state, step_of
from tests.machine.edges import Budget, Edge
from tests.machine.fork import fork
from tests.machine.laws import check
from tests.machine.likeness import likeness, likeness_of_run
from tests.machine.moves import moves
from tests.machine.oddities import oddities
from tests.machine.orders import START
from tests.machine.world import LawBroken, World

__all__ = ["Node", "Walk"]


@dataclass(slots=True)
class Node:
    """One place of a walk, and how it was reached."""

    state: RunState
    world: World
    budget: Budget
    now: float
    plan: Plan
    before: Node | None = None
    label: str = "start"

    def way(self) -> list[str]:
        """The labels from the start to here."""
        labels: list[str] = []
        node: Node | None = self
        while node is not None:
            labels.append(f"{node.now:g}: {node.label}")
            node = node.before
        return labels[::-1]


@dataclass(slots=True)
class Walk:
    """The walk over one definition."""

    spec: SagaSpec
    budget: Budget
    threaded: bool = False
    limit: int = 200_000
    states: int = 0
    transitions: int = 0
    rejected: int = 0
    odd: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    asked: set[Hashable] = field(default_factory=set)

    def run(self) -> Walk:
        """Go everywhere."""
        self.transitions, self.rejected, self.odd, self.ends = 0, 0, 0, {}
        spec, state = self.spec, new_state(self.spec)
        transition(spec, state, START)
        start = Node(state, World(), self.budget, 0.0, plan(spec, state, 0.0))
        seen = {self._key(start): start}
        leads_to: dict[Hashable, list[Hashable]] = {}
        queue = deque(seen.items())
        while queue:
            key, node = queue.popleft()
            assert len(seen) < self.limit, "the walk does not come to an end"
            self.look(node)
            for after in self._follow(node):
                next_key = self._key(after)
                leads_to.setdefault(next_key, []).append(key)
                if next_key not in seen:
                    seen[next_key] = after
                    queue.append((next_key, after))
        self.states = len(seen)
        _every_way_ends(seen, leads_to)
        return self

    def _key(self, node: Node) -> Hashable:
        return likeness(self.spec, node.state, node.world, node.budget, node.now)

    def _follow(self, node: Node) -> Iterator[Node]:
        label = ""
        try:
            for edge in moves(
                self.spec,
                node.state,
                node.world,
                node.budget,
                node.plan,
                node.now,
                threaded=self.threaded,
            ):
                label = edge.label
                if (after := self._take(node, edge)) is not None:
                    yield after
        except LawBroken as broken:
            way = "\n  ".join([*node.way(), label])
            raise LawBroken(broken.law, f"{broken}\n  {way}") from broken

    def _take(self, node: Node, edge: Edge) -> Node | None:
        world, state, planned = edge.world, node.state, node.plan
        now = node.now + edge.ticks
        if edge.command is not None:
            self.transitions += 1
            state = fork(node.state)
            events = transition(self.spec, state, edge.command)
            if isinstance(events, Rejected):
                self.rejected += 1
                if edge.surely:
                    raise LawBroken("12", f"turned down: {events.text}")
                if not edge.anyway:
                    return None
                return Node(node.state, world, edge.budget, now, planned, node, edge.label)
            planned = check(self.spec, fork(node.state), edge.command, events, state)
        elif edge.ticks:
            planned = plan(self.spec, state, now)
        return Node(state, world, edge.budget, now, planned, node, edge.label)

    def look(self, node: Node) -> None:
        """What holds in a place as such."""
        self._totality(node)
        if node.state.rests and not (node.world.under_way or node.world.threads):
            outcome = str(node.state.outcome)
            self.ends[outcome] = self.ends.get(outcome, 0) + 1
            _accounted(node)

    def _totality(self, node: Node) -> None:
        """Every command in every state is answered, fit or not."""
        key = likeness_of_run(self.spec, node.state, node.now)
        if key in self.asked:
            return
        self.asked.add(key)
        for command in oddities(self.spec, node.state, node.now):
            self.odd += 1
            answer = _decided(self.spec, node, command)
            if isinstance(answer, tuple):
                _was_due(self.spec, node, command)


def _decided(spec: SagaSpec, node: Node, command: Command) -> object:
    try:
        return decide(spec, node.state, command)
    except Exception as error:
        way = "\n  ".join(node.way())
        raise LawBroken("12", f"{command} is not answered: {error!r}\n  {way}") from error


def _was_due(spec: SagaSpec, node: Node, command: Command) -> None:
    """An order that is taken was planned, and a report that is taken speaks of the very intent."""
    state, planned = node.state, node.plan.todo
    match command:
        case Intend():
            # Something else may have to be decided first; what may begin can begin beside.
            order = command.step, command.of_key, command.generation, command.item
            begin = BeginNow(*order, command.choice)
            due = begin in planned
            due = due or DecideNow() in planned
        case Send():
            # As above: a sending that settles can go on beside.
            settles = bool(state.actions[command.key].open) and DecideNow() in planned
            due = SendNow(command.key) in planned or settles or _is_next(spec, node, command)
        case BeginProbe():
            due = BeginProbeNow(command.key) in planned or DecideNow() in planned
        case Report():
            due = command.digest == state.actions[command.key].digest
        case _:
            due = True
    if not due:
        way = "\n  ".join(node.way())
        raise LawBroken("12", f"{command} is taken, though nothing speaks for it\n  {way}")


def _is_next(spec: SagaSpec, node: Node, command: Send) -> bool:
    """It is planned once what follows by itself has been decided."""
    if DecideNow() not in node.plan.todo:
        return False
    state = fork(node.state)
    transition(spec, state, Wake(at=node.now))
    return SendNow(command.key) in plan(spec, state, node.now).todo


def _accounted(node: Node) -> None:
    """Law 3: every landed effect is in a completed step, undone, a person's case or accepted."""
    state = node.state
    for key, landings in node.world.landings.items():
        action = state.actions[key]
        undo = state.undo_of(action)
        held = [action] if undo is None else [action, undo]
        if any(a.case is not None or a.state == "accepted" or a.answered_for for a in held):
            continue
        if action.direction != FORWARD:
            if action.state != "landed":
                raise LawBroken("3", f"{key} has landed unseen\n  " + "\n  ".join(node.way()))
            continue
        kept = step_of(state.steps, action).undo == "nothing" or (
            state.outcome == "completed"
            and action.state == "landed"
            and state.newest(action.step, action.item) is action
            and is_on_path(state, state.steps[action.step])
            and not action.late
        )
        if not kept and not all(one.taken_back for one in landings):
            raise LawBroken("3", f"{key} stands, and nobody knows\n  " + "\n  ".join(node.way()))


def _every_way_ends(
    seen: Mapping[Hashable, Node], leads_to: Mapping[Hashable, Sequence[Hashable]]
) -> None:
    """From everywhere the run can still end, or come before a person who has no verdict left."""
    good = [
        key
        for key, node in seen.items()
        if node.state.rests or (node.state.open_cases and not node.budget.verdict)
    ]
    reached = set(good)
    while good:
        for key in leads_to.get(good.pop(), ()):
            if key not in reached:
                reached.add(key)
                good.append(key)
    for key, node in seen.items():
        if key not in reached:
            raise LawBroken("4", "no way to an end\n  " + "\n  ".join(node.way()))
