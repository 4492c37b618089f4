"""What happens during a storm: orders come in, processes are killed and stopped, a person decides.

A thread for each process, one that starts runs, cancels some and is the person in front of the
queue, and one for each other trouble. The seed gives each its own chance.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from signal import SIGKILL, SIGSTOP
from typing import Any

from saga import Client, NotAllowed, Saga
from tests.crash.deaths import Death
from tests.crash.evidence import Head, Journal, until
from tests.crash.nursery import NOT_BEGUN, Child, Nursery
from tests.crash.orders import order, order_flow, plain_flow
from tests.crash.person import Person
from tests.crash.trouble import Trouble
from tests.crash.watched_shop import WatchedShop

__all__ = ["Place", "Plan", "Weather"]

_STEADY = 4.0  # leases, at the most, that a steady process lives
_LONGER = 1.0  # the longest stop is so many seconds longer than the lease


@dataclass(frozen=True)
class Plan:
    """What a storm has to have done, at the least. `windows`: hits of each of the four."""

    runs: int = 1000
    kills: int = 300
    stops: int = 100
    windows: int = 10
    seed: str = "1"
    processes: int = 2
    steady: int = 0  # of them: never stopped, and alive for long enough to see others dead
    lease: float = 1.0  # seconds; with `_LONGER` well within `in_flight`, see tests.crash.orders
    open: int = 60  # runs under way at a time
    at_once: int = 40  # of one process: something is left for a newcomer
    latest_kill: float = 0.12  # seconds after the first claim
    asleep: int = 1  # processes that are stopped at a time
    flows: tuple[Saga[Any], Saga[Any]] = (order_flow, plain_flow)

    def chance(self, whose: str) -> random.Random:
        """The chance of one of those who take part."""
        return random.Random(f"{self.seed} {whose}")


@dataclass(frozen=True)
class Place:
    """Where a storm is: the database, and how it is looked into.

    `away`: it is not always there. `adrift`: so many seconds a clock of a process may be wrong.
    """

    url: str
    journal: Callable[[], Journal]
    away: bool = False
    adrift: float = 0.0


class Weather:
    """A storm while it lasts. `over` is set when enough has happened, or something went wrong."""

    def __init__(
        self, plan: Plan, nursery: Nursery, place: Place, client: Client, shop: WatchedShop
    ) -> None:
        self.plan = plan
        self.started: list[str] = []
        self.deaths: list[Death] = []
        self.stops: list[int] = []  # for each, how many runs somebody else took up meanwhile
        self.over = threading.Event()
        self.errors: list[BaseException] = []
        self.troubles: Sequence[Trouble] = ()
        self.alive: list[Child] = []
        self.stillborn = 0  # processes that could not begin: the database was away
        self.person = Person(client, shop.path, plan.chance("person"))
        self._nursery, self._place = nursery, place
        self._client, self._shop = client, shop
        self._asleep = threading.Semaphore(plan.asleep)
        self._quiet = threading.Event()  # the others are to be left alone

    def rage(self) -> None:
        """From the first order until all that was planned has happened; then it is over."""
        self._start(0)  # makes the file
        work = [self._orders, *(self._lives_of(n + 1) for n in range(self.plan.processes))]
        work += [partial(trouble.rage, self.over) for trouble in self.troubles]
        threads = [threading.Thread(target=self._guarded(one)) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def settle(self, patience: float) -> None:
        """Two processes in peace, and a person, until every run has ended."""
        children = [self._orchestrate(), self._orchestrate()]
        try:
            with closing(self._place.journal()) as journal:

                def all_ended() -> bool:
                    self.person.look_at_all()
                    return not journal.heads("phase <> 'ended'")

                until(all_ended, "the end of all runs", within=patience, pause=0.1)
        finally:
            codes = [child.terminate() for child in children]
        assert codes == [0, 0], "an orchestrator did not leave on SIGTERM"

    def _guarded(self, work: Callable[[], None]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001  it is raised by who asked
                self.errors.append(error)
                self.over.set()

        return guarded

    # ---- orders

    def _orders(self) -> None:
        """Keep some runs under way, cancel a few, have the person look."""
        chance = self.plan.chance("orders")
        cancels: list[tuple[float, str]] = []
        with closing(self._place.journal()) as journal:
            while not self.over.wait(0.005):
                if self._open_runs(journal) < self.plan.open:
                    name = self._start(len(self.started))
                    if chance.random() < 0.08:
                        cancels.append((time.monotonic() + chance.uniform(0, 0.5), name))
                while cancels and min(cancels)[0] < time.monotonic():
                    cancels.remove(due := min(cancels))
                    self._cancel(due[1])
                self.person.look_at_all()

    def _start(self, number: int) -> str:
        name = f"storm-{number}"
        chance = self.plan.chance(name)
        saga = self.plan.flows[chance.random() < 0.12]
        method = "pm_declined" if chance.random() < 0.1 else "pm_card"
        placed = order(name, payment_method=method, quantity=chance.randint(1, 3))
        self._client.start(saga, placed, run_id=name)
        self.started.append(name)
        return name

    def _cancel(self, name: str) -> None:
        try:
            self._client.cancel(name, reason="the customer has changed his mind", actor="customer")
        except NotAllowed as refused:
            if refused.rejection != "ended":
                raise

    def _open_runs(self, journal: Journal) -> int:
        waiting = "SELECT run_id FROM cases WHERE state = 'open'"
        return len(journal.heads(f"phase <> 'ended' AND run_id NOT IN ({waiting})"))

    # ---- processes

    def _lives_of(self, number: int) -> Callable[[], None]:
        def lives() -> None:
            chance, steady = self.plan.chance(f"process {number}"), number <= self.plan.steady
            with closing(self._place.journal()) as journal:
                while not self._enough():
                    self._live(journal, chance, steady=steady)

        return lives

    def _enough(self) -> bool:
        plan = self.plan
        struck = all(trouble.done >= trouble.wanted for trouble in self.troubles)
        killed = len(self.deaths) >= plan.kills and len(self.stops) >= plan.stops
        if struck and killed and len(self.started) >= plan.runs:
            self.over.set()
        return self.over.is_set()

    def _live(self, journal: Journal, chance: random.Random, *, steady: bool) -> None:
        """One process, from its first claim to whatever comes over it."""
        child = self._orchestrate()
        self.alive.append(child)
        try:
            if (id_ := self._owner(child, journal)) is not None:
                self._strike(child, id_, journal, chance, steady=steady)
        finally:
            self.alive.remove(child)

    def _owner(self, child: Child, journal: Journal) -> str | None:
        """The id under which it has claimed its first run; `None` if it could not begin."""
        end = time.monotonic() + 60
        while True:
            id_ = journal.id_of(child.pid)  # with the database away for long it takes a new one
            if id_ is not None and journal.heads("owner = ?", id_):
                return id_
            if self._place.away and child.code is not None:
                assert child.code == NOT_BEGUN, f"it ended by itself: see {child.log}"
                self.stillborn += 1
                return None
            assert time.monotonic() < end, f"it does not claim: see {child.log}"
            time.sleep(0.01 if self._place.away else 0.001)

    def _strike(
        self, child: Child, id_: str, journal: Journal, chance: random.Random, *, steady: bool
    ) -> None:
        claimed, plan = time.monotonic(), self.plan
        latest = _STEADY * plan.lease if steady else plan.latest_kill
        time.sleep(chance.uniform(0, latest - 0.005))
        left = 0 if steady else plan.stops - len(self.stops)
        if self._quiet.is_set():
            while self._quiet.is_set():
                time.sleep(0.01)
            assert child.terminate() == 0
        elif left > 0 and chance.random() < 0.5 and self._asleep.acquire(blocking=False):
            try:
                self._sleep(child, id_, journal, chance)
            finally:
                self._asleep.release()
        elif (age := time.monotonic() - claimed) > latest:
            assert child.terminate() == 0  # this machine was too slow for us
        else:
            child.send(SIGKILL)
            died = time.time()
            assert child.ended() == -SIGKILL, f"it ended by itself: see {child.log}"
            id_ = journal.id_of(child.pid) or id_
            self.deaths.append(Death(died, age, journal.heads("owner = ?", id_)))

    def _sleep(self, child: Child, id_: str, journal: Journal, chance: random.Random) -> None:
        """SIGSTOP for longer than the lease, SIGCONT, and a while of what it does then.

        Where one is stopped at a time, the others are left alone every other time, and this one is
        not stopped while it keeps them from writing: else nothing could be taken over.
        """
        quiet, taken = self.plan.asleep == 1 and len(self.stops) % 2 == 0, 0
        watched, lease = quiet or self.plan.asleep > 1, self.plan.lease
        child.send(SIGSTOP)
        try:
            owned: list[Head] = []
            if quiet:
                self._quiet.set()
                owned = _stopped_with_runs(child, id_, journal)
            elif watched:
                owned = journal.heads("owner = ?", id_)
            began = time.monotonic()
            time.sleep(lease + chance.uniform(0.15, 0.4))
            while watched and not taken and time.monotonic() - began < lease + _LONGER:
                time.sleep(0.01)
                taken = sum(journal.head(head.run_id).fence > head.fence for head in owned)
        finally:
            child.proceed()
            self._quiet.clear()
        time.sleep(chance.uniform(0.02, 0.3))
        assert child.terminate() == 0, f"no clean end after a stop: see {child.log}"
        self.stops.append(taken)

    def _orchestrate(self) -> Child:
        return self._nursery.orchestrate(
            self._place.url,
            self._shop.url,
            lease=self.plan.lease,
            grace=self.plan.lease,
            runs_at_once=self.plan.at_once,
        )


def _stopped_with_runs(child: Child, id_: str, journal: Journal) -> list[Head]:
    """Stop a process where it is not writing and has runs; those."""

    def stopped() -> list[Head]:
        child.halt()
        owned = [] if journal.turn_is_taken else journal.heads("owner = ?", id_)
        if not owned:
            child.proceed()
        return owned

    return until(stopped, "a moment between two commits", pause=0.001)
