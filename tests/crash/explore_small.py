"""Small sagas, one for each block: so small that every durable state of them is soon known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from saga import NothingToUndo, Provider, Retry, Saga, Savepoint, Step, Wait, input_of
from saga.testing import World
from tests.crash.explore_flows import Booking, Trip, book, drop

__all__ = ["detour", "gate", "nap", "optional", "pair", "spare"]

_Flow = tuple[Saga[Trip], World, Trip]


class _Agency:
    """Makes the steps of one saga at one provider."""

    def __init__(self, provider: Provider, *, probes: bool) -> None:
        self.world, self.trip = World(), input_of(Trip)
        self._at: dict[str, Any] = {"provider": provider, "probe": probes}
        self._at["retry"] = Retry(attempts=2)

    def step(self, name: str, *, reads: bool = False, **more: Any) -> Step[Trip, Booking]:
        undo: Any = NothingToUndo("it is only read")
        if not reads:
            undo = self.world.compensation(f"{name}.drop", drop, **self._at)
        effect = self.world.effect(f"{name}.book", book, **self._at)
        return Step(name, effect, args=self.trip, compensation=undo, **more)

    def saga(self, name: str, *entries: Any) -> _Flow:
        return Saga(name, self.trip, entries), self.world, Trip(traveller="Ada", city="Rome")


def pair(provider: Provider, *, probes: bool) -> _Flow:
    """Two steps beside each other."""
    agency = _Agency(provider, probes=probes)
    return agency.saga("pair", agency.step("car"), agency.step("tour", after=[]))


def optional(provider: Provider, *, probes: bool) -> _Flow:
    """A step that may fail, and one after it."""
    agency = _Agency(provider, probes=probes)
    return agency.saga("optional", agency.step("tour", optional=True), agency.step("car"))


def gate(provider: Provider, *, probes: bool) -> _Flow:
    """A pivot, and behind it a step with an alternative."""
    agency = _Agency(provider, probes=probes)
    spare = agency.step("post", reads=True)
    behind = agency.step("mail", reads=True, instead=[spare])
    return agency.saga("gate", agency.step("pay", pivot=True), behind)


def spare(provider: Provider, *, probes: bool) -> _Flow:
    """A step with an alternative, and one after it."""
    agency = _Agency(provider, probes=probes)
    return agency.saga("spare", agency.step("train", instead=[agency.step("bus")]))


def detour(provider: Provider, *, probes: bool) -> _Flow:
    """Two steps behind a savepoint, one on the other path, and one after it."""
    agency = _Agency(provider, probes=probes)
    first = [agency.step("train"), agency.step("seat")]
    way = Savepoint("way", steps=first, instead=[agency.step("bus")])
    return agency.saga("detour", way, agency.step("tour", reads=True))


def nap(provider: Provider, *, probes: bool) -> _Flow:
    """A step, a sleep, and a step."""
    agency = _Agency(provider, probes=probes)
    asleep: Any = Wait("night", time=timedelta(hours=8))
    return agency.saga("nap", agency.step("hotel"), asleep, agency.step("bus", reads=True))
