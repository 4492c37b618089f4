"""The configurations in which all laws must hold: four kinds of provider, and what may go wrong.

Each has a small one beside it, for the tests that run every time; `python -m tests.protocol` runs
the whole ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tests.protocol.names import Key
from tests.protocol.setting import Budget, Setting
from tests.protocol.trial import Trial

__all__ = ["HOLD", "HOLD_SMALL"]


class _Row(NamedTuple):
    """What may go wrong, in the whole configuration and in the small one."""

    name: str
    whole: Budget
    small: Budget
    changes: Mapping[str, Any] = {}


_KINDS = {
    "keys and probe": Setting(),
    "keys": Setting(probe="none"),
    "probe": Setting(keys=False),
    "neither": Setting(keys=False, probe="none"),
}

_EVERYWHERE: tuple[_Row, ...] = (
    _Row(
        "a process dies, a message is lost, somebody stops the run, a person decides",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(crash=1, lost=1, verdict=1),
    ),
    _Row(
        "an owner pauses and is slow, a message is lost, a person decides",
        Budget(pause=1, slow=1, lost=1, verdict=1),
        Budget(pause=1, lost=1),
    ),
    _Row(
        "two crashes and a commit in doubt, somebody stops the run",
        Budget(crash=2, doubt=1, stop=1),
        Budget(crash=1, doubt=1, stop=1),
    ),
    _Row(
        "an owner pauses, another dies, a webhook reports",
        Budget(pause=1, crash=1, report=1),
        Budget(crash=1, report=1),
    ),
    _Row(
        "the undo is refused, somebody stops the run, a person decides twice",
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, verdict=2),
        {"refusable": (Key(2), Key(1, undo=1), Key(1, undo=2))},
    ),
    _Row(
        "a refusal is not replayed",
        Budget(lost=2, verdict=1),
        Budget(lost=2),
        {"replays_refusals": False},
    ),
    _Row(
        "parallel branches, a process dies, a cancel",
        Budget(crash=1, stop=1),
        Budget(crash=1),
        {"parallel": True, "stops": ("cancel",)},
    ),
    _Row(
        "parallel branches, a message is lost, a person decides",
        Budget(lost=1, verdict=1, stop=1),
        Budget(lost=1, verdict=1),
        {"parallel": True},
    ),
    _Row(
        "the last step is irreversible",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(lost=1, stop=1),
        {"irreversible": (2,)},
    ),
    _Row(
        "an irreversible step beside one that may be refused",
        Budget(lost=1, stop=1, verdict=1),
        Budget(lost=1, verdict=1),
        {"parallel": True, "irreversible": (2,), "refusable": (Key(1),)},
    ),
    _Row(
        "the undo works without a receipt",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(lost=1, stop=1, verdict=1),
        {"undo_needs_receipt": False, "stops": ("cancel",)},
    ),
    _Row(
        "the undo does not hold the others",
        Budget(lost=1, stop=1, verdict=2),
        Budget(stop=1, verdict=2),
        {"hold": False, "refusable": (Key(2, undo=1), Key(1, undo=1)), "stops": ("cancel",)},
    ),
    _Row(
        "three steps, a process dies, somebody stops the run",
        Budget(crash=1, stop=1),
        Budget(crash=1),
        {"steps": 3, "refusable": (Key(3),)},
    ),
    _Row(
        "nothing is declared, and no person says what nobody can know",
        Budget(crash=1, lost=1, stop=1),
        Budget(crash=1, stop=1),
        {"declared": False},
    ),
    _Row(
        "a request stalls, and every effect is reported sooner or later",
        Budget(stalled=1, lost=1, stop=1, verdict=1),
        Budget(stalled=1, lost=1),
        {"every_effect_is_reported": True},
    ),
)

_WHERE_KEYS_ARE_HONOURED: tuple[_Row, ...] = (
    _Row(
        "an owner pauses, another dies, a webhook reports, a request is doubled",
        Budget(pause=1, crash=1, report=1, doubled=1),
        Budget(crash=1, report=1, doubled=1),
    ),
)

# What lands late is seen by the watch; a probe may be of little help.
_FINDS = {"probe": "finds only"}
_WHERE_IT_CAN_BE_ASKED: tuple[_Row, ...] = (
    _Row(
        "the probe never says absent, a person decides twice",
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, verdict=2),
        _FINDS,
    ),
    _Row(
        "the probe never says absent, and the undo works without a receipt",
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, stop=1),
        {**_FINDS, "undo_needs_receipt": False},
    ),
    _Row(
        "the probe never says absent, a request stalls, and every effect is reported",
        Budget(stalled=1, lost=1, verdict=1),
        Budget(stalled=1, verdict=1),
        {**_FINDS, "every_effect_is_reported": True},
    ),
    _Row(
        "effects show twice as late as declared",
        Budget(lost=2, slow=1),
        Budget(lost=1),
        {"visible_really": 2},
    ),
    _Row(
        "a request stalls, a person decides",
        Budget(stalled=1, slow=1, lost=2, verdict=1),
        Budget(stalled=1, lost=1),
    ),
    _Row(
        "a request stalls, the owner is slow",
        Budget(stalled=1, slow=3, lost=1),
        Budget(stalled=1, slow=1),
    ),
    _Row(
        "a sender sleeps two ticks past send_by, a person decides",
        Budget(pause=1, lost=1, verdict=1),
        Budget(pause=1),
        {"sleeps": 2},
    ),
    _Row(
        "a process dies, somebody stops the run",
        Budget(crash=1, lost=1, stop=1),
        Budget(crash=1),
    ),
)

# Nothing watches, but a person waits for `late_until`.
_WHERE_IT_CANNOT_BE_ASKED: tuple[_Row, ...] = (
    _Row(
        "a request stalls, a person decides",
        Budget(stalled=1, slow=1, lost=2, verdict=1),
        Budget(stalled=1, lost=1, verdict=1),
    ),
    _Row(
        "a sender sleeps two ticks past send_by, a person decides",
        Budget(pause=1, lost=1, verdict=1),
        Budget(pause=1, verdict=1),
        {"sleeps": 2},
    ),
    _Row(
        "a person and a webhook race",
        Budget(lost=1, verdict=2, report=1),
        Budget(lost=1, verdict=2, report=1),
    ),
)

_ONLY_A_PROBE: tuple[_Row, ...] = (
    _Row(
        "a sender sleeps without bound, and brings its evidence",
        Budget(pause=1, verdict=1),
        Budget(pause=1, verdict=1),
        {"sleeps": None},
    ),
)


def _trials(*, small: bool) -> Iterator[Trial]:
    for kind, provider in _KINDS.items():
        rows = _EVERYWHERE
        rows += _WHERE_IT_CAN_BE_ASKED if provider.asks else _WHERE_IT_CANNOT_BE_ASKED
        rows += _WHERE_KEYS_ARE_HONOURED if provider.keys else ()
        rows += _ONLY_A_PROBE if provider.asks and not provider.keys else ()
        for row in rows:
            budget = row.small if small else row.whole
            yield Trial(
                name=f"{kind}: {row.name}",
                setting=replace(provider, budget=budget, **row.changes),
            )


HOLD = tuple(_trials(small=False))
HOLD_SMALL = tuple(_trials(small=True))
