"""The configurations in which all laws must hold: four kinds of provider, and what may go wrong.

Each has a small one beside it, for the tests that run every time; `python -m tests.protocol` runs
the whole ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tests.protocol.machine import Machine
from tests.protocol.names import Key
from tests.protocol.part_two import PartTwo
from tests.protocol.setting import Budget, Setting
from tests.protocol.trial import Trial

__all__ = ["HOLD", "HOLD_SMALL", "RARE_PATHS"]

_KINDS = {
    "keys and probe": Setting(),
    "keys": Setting(probe="none"),
    "probe": Setting(keys=False),
    "neither": Setting(keys=False, probe="none"),
}
_UNDO = (Key(2), Key(1, undo=1), Key(1, undo=2))


class _Row(NamedTuple):
    """A configuration: whole and small."""

    name: str
    setting: Setting
    whole: Budget
    small: Budget
    machine: type[Machine] = Machine


def _everywhere(kind: str, provider: Setting) -> Iterator[_Row]:
    """What must hold at every kind of provider, in part 1."""

    def row(name: str, whole: Budget, small: Budget, **setting: object) -> _Row:
        return _Row(f"{kind}: {name}", replace(provider, **setting), whole, small)  # type: ignore[arg-type]

    yield row(
        "a process dies, a message is lost, somebody stops the run, a person decides",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(crash=1, lost=1, verdict=1),
    )
    yield row(
        "an owner pauses and is slow, a message is lost, a person decides",
        Budget(pause=1, slow=1, lost=1, verdict=1),
        Budget(pause=1, lost=1),
    )
    yield row(
        "two crashes and a commit in doubt, somebody stops the run",
        Budget(crash=2, doubt=1, stop=1),
        Budget(crash=1, doubt=1, stop=1),
    )
    yield row(
        "an owner pauses, another dies, a webhook reports, a request is doubled",
        Budget(pause=1, crash=1, report=1, doubled=int(provider.keys)),
        Budget(crash=1, report=1, doubled=int(provider.keys)),
    )
    yield row(
        "the undo is refused, somebody stops the run, a person decides twice",
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, verdict=2),
        refusable=_UNDO,
    )
    yield row(
        "a refusal is not replayed",
        Budget(lost=2, verdict=1),
        Budget(lost=2),
        replays_refusals=False,
    )
    yield row(
        "parallel branches, a process dies, a cancel",
        Budget(crash=1, stop=1),
        Budget(crash=1),
        parallel=True,
        stops=("cancel",),
    )
    yield row(
        "parallel branches, a message is lost, a person decides",
        Budget(lost=1, verdict=1, stop=1),
        Budget(lost=1, verdict=1),
        parallel=True,
    )
    yield row(
        "the last step is irreversible",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(lost=1, stop=1),
        irreversible=(2,),
    )
    yield row(
        "an irreversible step beside one that may be refused",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(lost=1, verdict=1),
        parallel=True,
        irreversible=(2,),
        refusable=(Key(1),),
    )
    yield row(
        "the undo works without a receipt",
        Budget(crash=1, lost=1, stop=1, verdict=1),
        Budget(lost=1, stop=1, verdict=1),
        undo_needs_receipt=False,
        stops=("cancel",),
    )
    yield row(
        "the undo does not hold the others",
        Budget(lost=1, stop=1, verdict=2),
        Budget(stop=1, verdict=2),
        hold=False,
        refusable=(Key(2, undo=1), Key(1, undo=1)),
        stops=("cancel",),
    )
    yield row(
        "three steps, a process dies, somebody stops the run",
        Budget(crash=1, stop=1),
        Budget(crash=1),
        steps=3,
        refusable=(Key(3),),
    )
    yield row(
        "nothing is declared, and no person says what nobody can know",
        Budget(crash=1, lost=1, stop=1),
        Budget(crash=1, stop=1),
        declared=False,
    )
    yield row(
        "a request stalls, and every effect is reported sooner or later",
        Budget(stalled=1, lost=1, stop=1, verdict=1),
        Budget(stalled=1, lost=1),
        every_effect_is_reported=True,
    )


def _where_it_can_be_asked(kind: str, provider: Setting) -> Iterator[_Row]:
    """What lands late is seen by the watch of part 2; a probe may be of little help."""
    finds = replace(provider, probe="finds only")
    yield _Row(
        f"{kind}: the probe never says absent, a person decides twice",
        finds,
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, verdict=2),
    )
    yield _Row(
        f"{kind}: ... and the undo works without a receipt",
        replace(finds, undo_needs_receipt=False),
        Budget(lost=1, stop=1, verdict=2),
        Budget(lost=1, stop=1),
    )
    yield _Row(
        f"{kind}: ... and a request stalls, every effect is reported",
        replace(finds, every_effect_is_reported=True),
        Budget(stalled=1, lost=1, verdict=1),
        Budget(stalled=1, verdict=1),
    )
    yield _Row(
        f"{kind}: effects show twice as late as declared",
        replace(provider, visible_really=2),
        Budget(lost=2, slow=1),
        Budget(lost=1),
    )
    yield _Row(
        f"{kind}: part 2, a request stalls, a person decides",
        provider,
        Budget(stalled=1, slow=1, lost=2, verdict=1),
        Budget(stalled=1, lost=1),
        PartTwo,
    )
    yield _Row(
        f"{kind}: part 2, a request stalls, the owner is slow",
        provider,
        Budget(stalled=1, slow=3, lost=1),
        Budget(stalled=1, slow=1),
        PartTwo,
    )
    yield _Row(
        f"{kind}: part 2, a sender sleeps two ticks past send_by, a person decides",
        replace(provider, sleeps=2),
        Budget(pause=1, lost=1, verdict=1),
        Budget(pause=1),
        PartTwo,
    )
    yield _Row(
        f"{kind}: part 2, a process dies, somebody stops the run",
        provider,
        Budget(crash=1, lost=1, stop=1),
        Budget(crash=1),
        PartTwo,
    )


def _where_it_cannot_be_asked(kind: str, provider: Setting) -> Iterator[_Row]:
    """A person waits for `late_until`, so part 1 is as good as part 2."""
    yield _Row(
        f"{kind}: a request stalls, a person decides",
        provider,
        Budget(stalled=1, slow=1, lost=2, verdict=1),
        Budget(stalled=1, lost=1, verdict=1),
    )
    yield _Row(
        f"{kind}: a sender sleeps two ticks past send_by, a person decides",
        replace(provider, sleeps=2),
        Budget(pause=1, lost=1, verdict=1),
        Budget(pause=1, verdict=1),
    )
    yield _Row(
        f"{kind}: a person and a webhook race",
        provider,
        Budget(lost=1, verdict=2, report=1),
        Budget(lost=1, verdict=2, report=1),
    )


def _rows() -> Iterator[_Row]:
    for kind, provider in _KINDS.items():
        yield from _everywhere(kind, provider)
        if provider.asks:
            yield from _where_it_can_be_asked(kind, provider)
        else:
            yield from _where_it_cannot_be_asked(kind, provider)
    yield _Row(
        "probe: a sender sleeps without bound, and brings its evidence",
        replace(_KINDS["probe"], sleeps=None),
        Budget(pause=1, verdict=1),
        Budget(pause=1, verdict=1),
    )


def _trial(row: _Row, budget: Budget) -> Trial:
    return Trial(name=row.name, setting=replace(row.setting, budget=budget), machine=row.machine)


HOLD = tuple(_trial(row, row.whole) for row in _rows())
HOLD_SMALL = tuple(_trial(row, row.small) for row in _rows())

RARE_PATHS = (
    # A search that never came here would prove nothing about it. Parts of the labels of moves.
    "crashes",
    "takes the paused",
    "drops its memory",
    "the owner is slow",
    "commit in doubt, it was committed",
    "commit in doubt, it was not committed; a locking read says so",
    "finds that it owns the run, takes it up",
    "cannot connect",
    "is lost on the way",
    "the reply is lost",
    "its request is still on its way",
    "a copy stays under way",
    "stalls",
    "after send_by",
    "reaches the provider, is refused",
    "reports as evidence: step 1#1 landed",
    "reports as evidence: step 1#1 not_sent",
    "reports as evidence: step 2#1 refused",
    "a webhook reports that step 1 landed",
    "a webhook reports that step 1/undo landed",
    "cancel is recorded",
    "deadline is recorded",
    "nothing of it has left",
    "resent inside key life",
    "absent by protocol",
    "it was absent",
    "again, since the proof was old, absent by protocol",
    "a person asked for it",
    "step 1~2",
    "step 1/undo~2",
    "without a receipt",
    "opens a case for step 1: unknown",
    "opens a case for step 1: exhausted",
    "opens a case for step 1/undo: unknown",
    "opens a case for step 1/undo: undo_refused",
    "opens a case for step 1/undo: undo_exhausted",
    "a person looks at the case of step 1: late",
    "a person looks at the case of step 1/undo: late",
    "a person decides probe",
    "a person decides retry for step 1/undo",
    "a person decides landed",
    "a person decides absent",
    "a person decides undone for step 1/undo",
    "a person decides accept",
    "a person decides too late",
    "since a person asked",
    "learns nothing",
    "watches and finds late",
    "ends the watch",
)
