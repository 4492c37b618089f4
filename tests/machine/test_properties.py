"""Random sagas, random troubles: the laws hold whatever happens in whatever order."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga.definition.spec import SagaSpec
from saga.machine.commands import Rejected, Reply, Report
from saga.machine.decide import transition
from saga.machine.events import Event
from saga.machine.evolve import evolve
from saga.machine.plan import plan
from saga.machine.state import RunState, new_state
from tests.machine.edges import Budget
from tests.machine.fork import fork
from tests.machine.laws import check
from tests.machine.moves import moves
from tests.machine.oddities import oddities
from tests.machine.orders import START
from tests.machine.sagas import saga
from tests.machine.world import World

PROVIDERS = ("keys query", "keys", "query", "nothing", "keys query late", "keys forgetful")
SPECIALS = ("", "", "", "blind", "passable", "hurry", "thrice", "once", "reads", "irreversible")
PLENTY = Budget(
    unknown=4,
    refused=2,
    not_sent=4,
    unsure=3,
    crash=2,
    cancel=1,
    verdict=4,
    report=2,
    slow=2,
    straggler=1,
)
MOVES = 120


@st.composite
def sagas(draw: st.DrawFn) -> SagaSpec:
    """Up to six steps, each after any of those before it."""
    count = draw(st.integers(1, 6))
    steps = [
        f"{draw(st.sampled_from(PROVIDERS))} {draw(st.sampled_from(SPECIALS))}".strip()
        for _ in range(count)
    ]
    after = [
        sorted(draw(st.sets(st.integers(0, index - 1), max_size=3)) if index else ())
        for index in range(count)
    ]
    return saga(steps, after, draw(st.none() | st.sampled_from([2.0, 8.0])))


def replayed(spec: SagaSpec, journal: list[tuple[float, Event]]) -> RunState:
    state = new_state(spec)
    for at, event in journal:
        evolve(state, event, at)
    return state


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sagas(), st.data())
def test_random_sagas_keep_the_laws_in_a_true_world(spec: SagaSpec, data: st.DataObject) -> None:
    """The same moves as in the walk, one way through instead of all."""
    state, world, budget, now = new_state(spec), World(), PLENTY, 0.0
    started = transition(spec, state, START)
    assert not isinstance(started, Rejected)
    journal: list[tuple[float, Event]] = [(now, event) for event in started]
    planned = plan(spec, state, now)
    for _ in range(MOVES):
        edges = list(moves(spec, state, world, budget, planned, now, threaded=True))
        if not edges:
            break
        edge = data.draw(st.sampled_from(edges), label="move")
        now += edge.ticks
        if edge.command is None:
            world, budget = edge.world, edge.budget
            planned = plan(spec, state, now)
            continue
        before = fork(state)
        decision = transition(spec, state, edge.command)
        if edge.anyway or not isinstance(decision, Rejected):
            world, budget = edge.world, edge.budget
        if isinstance(decision, Rejected):
            assert state == before
            continue
        planned = check(spec, before, edge.command, decision, state)
        journal += [(now, event) for event in decision]
    assert replayed(spec, journal) == state


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sagas(), st.data())
def test_commands_that_make_no_sense_break_no_law_either(
    spec: SagaSpec, data: st.DataObject
) -> None:
    """Anything from anybody, out of turn and contradicting what was said before."""
    state, now = new_state(spec), 0.0
    transition(spec, state, START)
    world = World()
    for _ in range(40):
        now += data.draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 7.0]), label="time")
        planned = plan(spec, state, now)
        edges = moves(spec, state, world, PLENTY, planned, now, threaded=True)
        choices = [edge.command for edge in edges if edge.command is not None]
        choices += [one for one in oddities(spec, state, now) if isinstance(one, Reply | Report)]
        if not choices:
            continue
        command = data.draw(st.sampled_from(choices), label="command")
        before = fork(state)
        decision = transition(spec, state, command)
        if isinstance(decision, Rejected):
            assert state == before
        else:
            check(spec, before, command, decision, state)
