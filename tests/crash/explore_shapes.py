"""The sagas that are explored in every shape: what the providers can do, and what goes wrong.

A shape is named `flow, provider, mishap`; with `nothing` the providers declare nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from saga import Provider, Saga
from saga.testing import Fate, Report, World, explore
from tests.crash.explore_flows import fan, nested, order_flow, patient, trip
from tests.crash.explore_lists import crowd, letters
from tests.crash.explore_small import detour, gate, nap, optional, pair, spare

__all__ = ["PROVIDERS", "SHAPES", "Shape"]


_Flow = Callable[..., tuple[Saga[Any], World, Any]]

_BOUNDS: dict[str, Any] = {
    "in_flight": timedelta(seconds=90),
    "visible_after": timedelta(seconds=10),
    "late_until": timedelta(hours=1),
}
PROVIDERS = {
    "keys and probes": (Provider("shop", key_life=timedelta(hours=24), **_BOUNDS), True),
    "keys": (Provider("shop", key_life=timedelta(hours=24), **_BOUNDS), False),
    "probes": (Provider("shop", **_BOUNDS), True),
    "nothing": (Provider("shop"), False),
}
_MISHAPS: dict[_Flow, dict[str, tuple[str, ...]]] = {
    order_flow: {
        "all goes well": (),
        "reserve is refused": ("inventory.reserve",),
        "charge is refused": ("payments.charge",),
        "ship is refused": ("shipping.create",),
        "release is refused": ("shipping.create", "inventory.release"),
        "refund is refused": ("shipping.create", "payments.refund"),
        "recall is refused": ("shipping.cancel",),
    },
    trip: {
        "all goes well": (),
        "hotel is refused": ("hotel.book",),
        "flight is refused": ("flight.book",),
        "drop of hotel is refused": ("flight.book", "hotel.drop"),
        "drop of flight is refused": ("flight.drop",),
    },
    patient: {
        "all goes well": (),
        "flight is refused": ("flight.book",),
    },
    nested: {
        "flight is refused": ("flight.book",),
        "car is refused": ("car.book",),
    },
    letters: {
        "all goes well": (),
        "post is refused": ("letter.post",),
        "stamp is refused": ("stamp.put",),
        "recall is refused": ("stamp.put", "letter.recall"),
    },
    crowd: {
        "all goes well": (),
        "post is refused": ("letter.post",),
    },
    fan: {
        "all goes well": (),
        "car and tour are refused": ("car.book", "tour.book"),
        "papers are refused": ("papers.book",),
        "drop of car is refused": ("papers.book", "car.drop"),
    },
}
_SMALL: dict[_Flow, dict[str, tuple[str, ...]]] = {
    pair: {"all goes well": (), "tour is refused": ("tour.book",)},
    optional: {"tour is refused": ("tour.book",), "car is refused": ("car.book",)},
    gate: {"all goes well": (), "mail is refused": ("mail.book",)},
    spare: {"all goes well": (), "train is refused": ("train.book",)},
    detour: {"train is refused": ("train.book",), "seat is refused": ("seat.book",)},
    nap: {"all goes well": (), "bus is refused": ("bus.book",)},
}
_SIGNALS = {patient: {"paid": {"amount": "9.50"}}}
_STRAGGLERS: dict[str, tuple[str, _Flow]] = {
    "order flow": ("payments.charge", order_flow),
    "trip": ("flight.book", trip),
    "letters": ("letter.post", letters),
}


@dataclass(frozen=True)
class Shape:
    """One exploration. `plans`: of a contract, what becomes of its first requests and the rest."""

    name: str
    flow: _Flow
    provider: Provider
    probes: bool
    plans: Mapping[str, tuple[Fate, ...]]

    def explore(self, **options: Any) -> Report:
        """Both ways: unless told otherwise, somebody may cancel at any moment."""
        saga, world, given = self.flow(self.provider, probes=self.probes)
        for name, (*first, then) in self.plans.items():
            world.meets(name, *first, then=then)
        signals = _SIGNALS.get(self.flow)
        return explore(saga, given, **{"cancel": True, "signals": signals, **options})


def _shapes() -> Iterator[Shape]:
    for flow, mishaps in (_MISHAPS | _SMALL).items():
        for kind, (provider, probes) in PROVIDERS.items():
            for mishap, refused in mishaps.items():
                name = f"{flow.__name__.replace('_', ' ')}, {kind}, {mishap}"
                plans = dict.fromkeys(refused, (Fate.REFUSE,))
                yield Shape(name, flow, provider, probes, plans)
    for flow_name, (contract, flow) in _STRAGGLERS.items():
        for kind, (provider, probes) in PROVIDERS.items():
            name = f"{flow_name}, {kind}, a straggler"
            yield Shape(name, flow, provider, probes, {contract: (Fate.STRAGGLE, Fate.ACT)})


SHAPES = {shape.name: shape for shape in _shapes()}
