"""The 24 places where an orchestrator is killed: four windows of three steps and their undos.

They are reached from outside only: the shop holds a request or an answer, and where that is too
coarse the process is let run in slices of a third of a millisecond, with a look at the journal and
at the shop between them. Each place asserts that it was hit before the process is killed.

  1  before the action            intent and sending are durable, nothing has reached the shop
  2  sent, result unknown         the shop has the request and has not acted
  3  landed, receipt unrecorded   the shop has acted, the journal still says sending
  4  receipt recorded             the record with the receipt is durable; nothing came after it
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from examples.order_flow.shop import Shop
from saga import Client
from tests.crash.evidence import FileJournal, Record, until
from tests.crash.nursery import Child
from tests.crash.orders import order, order_flow

__all__ = ["ACTIONS", "PLACES", "TRIES", "Act", "Missed", "Place", "Scene"]

TRIES = 25  # to hit a place that is met in slices
_SLICE = 0.0003
_ON_ITS_WAY = 0.02  # what has left the process by now has reached the shop then
_NEVER = 1_000_000  # the n-th request that fits, and never comes


class Missed(Exception):
    """The process ran past the place between two looks; another run may hit it."""


@dataclass(frozen=True)
class Act:
    """One of the six actions of a run that is undone, in the order in which they happen."""

    step: str
    undo: bool

    @property
    def _match(self) -> dict[str, Any]:
        return {"step": self.step, "undo": self.undo}

    def __str__(self) -> str:
        return f"{self.step}-undo" if self.undo else self.step


ACTIONS = (
    Act("reserve", undo=False),
    Act("charge", undo=False),
    Act("ship", undo=False),
    Act("ship", undo=True),
    Act("charge", undo=True),
    Act("reserve", undo=True),
)


@dataclass(frozen=True)
class Place:
    """A window of an action."""

    act: Act
    window: int

    def __str__(self) -> str:
        return f"{self.act}-{self.window}"


PLACES = tuple(Place(act, window) for act in ACTIONS for window in (1, 2, 3, 4))
_SHIP = ACTIONS[2]


class Scene:
    """A run, its orchestrator and the shop, brought to a place."""

    def __init__(
        self, shop: Shop, client: Client, journal: FileJournal, child: Child, run_id: str
    ) -> None:
        self.shop, self.client, self.journal = shop, client, journal
        self.child, self.run_id = child, run_id

    # ---- what the journal and the shop say

    def intent(self, act: Act) -> dict[str, Any] | None:
        """The event that froze an action."""
        direction = "undo" if act.undo else "forward"
        for record in self.journal.records(self.run_id):
            found = record.find("intended", step=act.step, direction=direction)
            if found is not None:
                return found
        return None

    def key(self, act: Act) -> str:
        """The key of an action that has been intended."""
        intent = self.intent(act)
        assert intent is not None, act
        return str(intent["key"])

    def on_record(self, act: Act, kind: str) -> Record | None:
        """The first record with an event of this kind about an action."""
        intent = self.intent(act)
        if intent is None:
            return None
        records = self.journal.records(self.run_id)
        return next((r for r in records if r.find(kind, key=intent["key"])), None)

    def sendings(self, act: Act) -> int:
        """How many attempts at an action are on record."""
        key, records = self.key(act), self.journal.records(self.run_id)
        return sum(record.find("sending", key=key) is not None for record in records)

    def proof(self, act: Act) -> str:
        """Who proved that an action landed: reply, probe, report or person."""
        record = self.on_record(act, "landed")
        assert record is not None, act
        event = record.find("landed", key=self.key(act))
        assert event is not None, act
        return str(event["source"])

    def landed(self, act: Act) -> int:
        """How often an action has landed, in the shop's word."""
        key = self.key(act)
        return sum(row["key"] == key for row in self.shop.ledger(self.run_id))

    def counting(self, act: Act) -> None:
        """Have the shop count the requests for an action from now on; see `counted`."""
        for method in ("POST", "GET"):
            self.shop.rule("busy", **self._match(act), method=method, nth=_NEVER)

    def counted(self, act: Act, method: str) -> int:
        """How many requests of a method the shop has received for an action."""
        wanted = self._match(act) | {"method": method}
        fitted = [e["fitted"] for e in self.shop.rules() if wanted.items() <= e["match"].items()]
        return int(max(fitted))

    def _match(self, act: Act) -> dict[str, Any]:
        return {"run_id": self.run_id, "step": act.step, "undo": act.undo}

    # ---- the way there

    def hold_answer(self, act: Act) -> None:
        """Start the run and have the answer to an action held, after it landed."""
        self.shop.rule("hold_answer", **self._match(act))
        self._start(past=act)
        self._await_held(act, "answer")

    def reach(self, place: Place) -> None:
        """Bring the run to a place, and leave the process alive or halted there."""
        act, window = place.act, place.window
        self.counting(act)
        before = ACTIONS[ACTIONS.index(act) - 1] if act is not ACTIONS[0] else None
        if window == 1:
            self._to_first_window(act, before)
        elif window == 2:
            self.shop.rule("hold_request", **self._match(act), visible=not act.undo)
            self._start(past=act)
            self._await_held(act, "request")
        else:
            self.hold_answer(act)
            if window == 4:
                self.halt()
                self.shop.release(run_id=self.run_id)
                self._step_until(act, "landed")

    def _to_first_window(self, act: Act, before: Act | None) -> None:
        if before is None:
            self.halt()
            self._order()
        else:
            self.hold_answer(before)
            if before == _SHIP and act.undo:
                self.client.cancel(self.run_id, reason="the customer has changed his mind")
            self.halt()
            self.shop.release(run_id=self.run_id)
        self._step_until(act, "sending")

    def _order(self) -> None:
        self.client.start(order_flow, order(self.run_id), run_id=self.run_id)

    def _start(self, *, past: Act) -> None:
        """Start the run; if an undo is wanted, cancel it while ship is in flight."""
        if not past.undo:
            self._order()
            return
        self.shop.rule("hold_answer", **self._match(_SHIP))
        self._order()
        self._await_held(_SHIP, "answer")
        self.client.cancel(self.run_id, reason="the customer has changed his mind")
        self.shop.release(run_id=self.run_id)

    def _await_held(self, act: Act, where: str) -> None:
        def held() -> bool:
            found = self.shop.held(run_id=self.run_id, wait=1)
            return any(
                (one["step"], one["of_key"] is not None, one["place"])
                == (act.step, act.undo, where)
                for one in found
            )

        until(held, f"{act} of {self.run_id} held ({where})")

    def _step_until(self, act: Act, kind: str) -> None:
        """Let the halted process run in slices until a record says so."""
        end = time.monotonic() + 10
        while self.on_record(act, kind) is None:
            assert time.monotonic() < end, f"no {kind} of {act} on record"
            self._slice()
            self.halt()

    def halt(self) -> None:
        """Stop the process where it is not writing: then others can read, and write."""
        self.child.halt()
        while self.journal.turn_is_taken:
            self._slice()
            self.child.halt()

    def _slice(self) -> None:
        self.child.proceed()
        time.sleep(_SLICE)

    # ---- being there

    def assert_hit(self, place: Place) -> None:
        """The evidence that it is this place and no other, while nothing moves."""
        act, window = place.act, place.window
        self.halt()
        time.sleep(_ON_ITS_WAY)
        received, landed = self.counted(act, "POST"), self.landed(act)
        known = self.on_record(act, "landed") is not None
        if window in (1, 4) and self._ran_past(place, received):
            raise Missed(str(place))
        assert self.on_record(act, "sending") is not None
        assert (received, landed, known) == {
            1: (0, 0, False),
            2: (1, 0, False),
            3: (1, 1, False),
            4: (1, 1, True),
        }[window]

    def _ran_past(self, place: Place, received: int) -> bool:
        if place.window == 1:
            return received > 0
        last = self.journal.records(self.run_id)[-1]
        return last.find("landed", key=self.key(place.act)) is None
