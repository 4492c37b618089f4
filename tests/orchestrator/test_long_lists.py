"""A list of ten thousand: what is stored of it, and that no item costs more than another.

Cost is counted in lines of Python that run, not in seconds: the same each time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pydantic import BaseModel

from saga import (
    App,
    Call,
    Client,
    Compensation,
    Each,
    Effect,
    NothingToUndo,
    Orchestrator,
    Provider,
    Refused,
    Saga,
    Step,
    Undo,
    bind,
    input_of,
    item_of,
)
from saga.definition.spec import SagaSpec
from saga.journal.database import Database
from saga.journal.definitions import Specs
from saga.journal.history import History, load
from saga.journal.records import RECORD_LIMIT
from saga.journal.sealing import Keyring
from saga.journal.sqlite import library
from saga.machine.action_events import Sending
from saga.machine.commands import Reply
from saga.machine.decide import transition
from saga.machine.plan import plan
from saga.machine.state import RunState, new_state
from saga.testing import check_laws
from tests.machine.list_ride import listing
from tests.machine.orders import START, order_for

KEYS = Keyring({})


class People(BaseModel):
    ids: list[str]


class Letter(BaseModel):
    to: str


class Sent(BaseModel):
    to: str


class Post:
    """A saga that writes to everybody, and what of it has landed.

    `fails`: in the end all of it is taken back.
    """

    def __init__(self, folder: Path, *, fails: bool = False) -> None:
        self.path = folder / "saga.db"
        self.url = f"sqlite:///{self.path}"
        self.ledger: list[dict[str, Any]] = []
        people = input_of(People)
        one = item_of(people.ids)
        provider = Provider("post", key_life=86_400)
        each = Each(
            "mail",
            Effect("mail.send", self._send, provider=provider),
            over=people.ids,
            key=one,
            args=bind(Letter)(to=one),
            compensation=Compensation("mail.unsend", self._unsend, provider=provider),
            parallel=100,
        )
        last = Step(
            "last",
            Effect("mail.last", self._refuse),
            args=bind(Letter)(to="all"),
            compensation=NothingToUndo("does nothing"),
        )
        self.saga = Saga("campaign", people, [each, last] if fails else [each])

    async def _send(self, call: Call[Letter]) -> Sent:
        self._note(call, None)
        return Sent(to=call.args.to)

    async def _unsend(self, call: Undo[Letter, Sent]) -> None:
        self._note(call, call.of_key)

    async def _refuse(self, _: Call[Letter]) -> Sent:
        raise Refused("no")

    def _note(self, call: Any, of_key: str | None) -> None:
        facts = {"key": call.key, "run_id": call.run_id, "step": call.step}
        self.ledger.append({**facts, "of_key": of_key, "at": None})

    def run(self, run_id: str, count: int) -> None:
        """Write to so many."""
        people = People(ids=[f"p{number:07}" for number in range(count)])
        with closing(Client(self.url)) as client:
            client.start(self.saga, people, run_id=run_id)
        asyncio.run(Orchestrator(App(self.saga), self.url).run_until_idle())

    def load(self, run_id: str) -> History:
        """The run as an owner, or anybody who looks, reads it."""
        database = Database(self.url, KEYS)
        with closing(database), database.connection() as connection:
            return load(connection, KEYS, Specs(KEYS), run_id)

    def bodies(self, run_id: str) -> list[str]:
        """The records of a run as they are stored."""
        with closing(library.connect(str(self.path), timeout=60)) as connection:
            sql = "SELECT body FROM journal WHERE run_id = ?"
            return [body for (body,) in connection.execute(sql, [run_id])]


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    post = Post(tmp_path)
    yield post
    assert not check_laws(post.url, post.ledger)


def lines(work: Callable[[], object]) -> int:
    """How many lines of this package run."""
    count = 0

    def each_line(_: FrameType, event: str, __: object) -> Any:
        nonlocal count
        count += event == "line"
        return each_line

    def each_call(frame: FrameType, _: str, __: object) -> Any:
        return each_line if "/saga/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(each_call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_ten_thousand_items_are_done_and_every_record_fits(post: Post) -> None:
    post.run("r", 10_000)
    history = post.load("r")
    assert history.state.outcome == "completed"
    sizes = [len(body.encode()) for body in post.bodies("r")]
    assert max(sizes) <= RECORD_LIMIT
    assert sum(sizes) < 10_000 * 1000  # all that is stored of an item: less than a kilobyte
    assert len({entry["key"] for entry in post.ledger}) == len(post.ledger) == 10_000


def test_loading_four_times_the_items_takes_four_times_the_work(post: Post) -> None:
    work = {}
    for count in (500, 2000):
        post.run(f"r{count}", count)
        work[count] = lines(partial(post.load, f"r{count}"))
    assert work[500] > 500 * 20  # it is counted at all
    assert 3.5 < work[2000] / work[500] < 4.4, work


def gone_over(spec: SagaSpec, count: int) -> RunState:
    """Every item lands, then the last step is refused and all are undone."""
    state = new_state(spec)
    transition(spec, state, replace(START, input={"n": 1, "items": ["x"] * count}))
    while state.phase != "ended":
        sendings = []
        for todo in plan(spec, state, 0.0).todo:
            decision = transition(spec, state, order_for(state, todo, 0.0))
            assert isinstance(decision, tuple), decision
            sendings += [event for event in decision if isinstance(event, Sending)]
        assert sendings, "it is stuck"
        for sending in sendings:
            action = state.actions[sending.key]
            result = "refused" if spec.steps[action.step].name == "b" else "landed"
            reply = Reply(at=0.0, key=sending.key, attempt=1, result=result, receipt={})
            transition(spec, state, reply)
    return state


@pytest.mark.parametrize("parallel", [1, 50])
def test_an_item_of_a_long_list_takes_no_more_work_than_one_of_a_short_one(parallel: int) -> None:
    spec = listing("keys each", "keys", parallel=parallel)
    work = {}
    for count in (200, 800):
        work[count] = lines(partial(gone_over, spec, count))
    assert 3.5 < work[800] / work[200] < 4.4, work
    state = gone_over(spec, 200)
    assert (state.outcome, len(state.actions)) == ("compensated", 401)


def left_unknown(spec: SagaSpec, count: int) -> RunState:
    """No item's call says what became of it, and nobody can be asked: all are before a person."""
    state = new_state(spec)
    transition(spec, state, replace(START, input={"n": 1, "items": ["x"] * count}))
    while todos := plan(spec, state, 0.0).todo:
        for todo in todos:
            transition(spec, state, order_for(state, todo, 0.0))
        for action in list(state.moving.values()):
            error = {"type": "TimeoutError", "text": "", "leaves": []}
            reply = Reply(at=0.0, key=action.key, attempt=1, result="unknown", error=error)
            transition(spec, state, reply)
    return state


def test_items_that_wait_for_a_person_make_the_others_no_dearer() -> None:
    spec = listing("each", parallel=10, on_unknown="hold_item")
    work = {}
    for count in (200, 800):
        work[count] = lines(partial(left_unknown, spec, count))
    assert 3.5 < work[800] / work[200] < 4.4, work
    state = left_unknown(spec, 200)
    assert (state.open_cases, len(state.active), len(state.moving)) == (200, 200, 0)


def test_the_laws_are_checked_in_proportion_to_what_has_landed(tmp_path: Path) -> None:
    work = {}
    for count in (150, 600):
        folder = tmp_path / str(count)
        folder.mkdir()
        post = Post(folder, fails=True)
        post.run("r", count)
        assert len(post.ledger) == 2 * count
        work[count] = lines(partial(check_laws, post.url, post.ledger))
    assert 3.3 < work[600] / work[150] < 4.4, work
