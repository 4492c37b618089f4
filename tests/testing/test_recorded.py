"""Laws that a journal shows by itself, on journals that the machine would never write."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pytest

from saga.journal.records import Record
from saga.machine.action_events import Absent, Intended, Landed, Refused, Sending, Unknown
from saga.machine.commands import Command, Rejected, name_of
from saga.machine.decide import Decision
from saga.machine.events import CaseClosed, CaseOpened, Ended, Event, Started, WindingDown
from saga.testing import World
from saga.testing.recorded import recorded_laws
from tests.machine.ride import Ride
from tests.machine.sagas import line
from tests.testing.trips import trips

SPEC = trips(World()).machine_spec
NOW = 1000.0


def journal(*records: list[Event], fence: int = 2) -> tuple[Record, ...]:
    return tuple(
        Record(
            run_id="t1",
            seq=seq,
            at=NOW + seq,
            fence=0 if seq == 1 else fence,
            due=None,
            commands=("start",),
            events=tuple(events),
        )
        for seq, events in enumerate(records, start=1)
    )


STARTED = Started(
    run_id="t1",
    instance="i",
    tenant="",
    saga="trip",
    saga_version=1,
    definition="d",
    input={},
    deadline_at=None,
    actor=None,
    resource=None,
)
ERROR = {"type": "E", "text": "", "leaves": []}


def intended(step: str, **other: Any) -> Intended:
    values: dict[str, Any] = {
        "key": step,
        "step": step,
        "item": None,
        "direction": "forward",
        "generation": 1,
        "effect": "e",
        "effect_version": 1,
        "target": "-",
        "digest": "d",
        "args": {},
        "of_key": None,
        "replaces": None,
        "undo": "u@1",
        "undo_key": f"{step}/undo@1",
        "deadline_at": None,
    }
    return Intended(**{**values, **other})


def undo(step: str, key: str | None = None) -> Intended:
    return intended(step, key=key or f"{step}/undo@1", direction="undo", of_key=step)


def sending(key: str, attempt: int = 1, fence: int = 2) -> Sending:
    return Sending(key=key, attempt=attempt, fence=fence, send_by=NOW + 30, threaded=False)


def landed(key: str, receipt: object = "r") -> Landed:
    return Landed(key=key, attempt=1, receipt=receipt, source="reply")


def unknown(key: str) -> Unknown:
    return Unknown(
        key=key,
        attempt=1,
        error=ERROR,
        running=False,
        until=NOW + 30,
        conflict=False,
        interrupted="",
        repeats=False,
        due=NOW,
    )


def turn(cause: str = "cancelled", step: str | None = None) -> WindingDown:
    return WindingDown(cause=cause, step=step, error=None, reason="", actor=None)


def opened(case: str, key: str) -> CaseOpened:
    return CaseOpened(case=case, key=key, case_kind="unknown", text="", error=None)


def closed(**other: Any) -> CaseClosed:
    values: dict[str, Any] = {
        "case": "t1/1",
        "verdict": "accept",
        "actor": "Ada",
        "reason": "seen",
        "evidence": None,
        "looked_at": NOW,
    }
    return CaseClosed(**{**values, **other})


HOTEL: list[Event] = [intended("hotel"), sending("hotel")]
BOTH: list[Event] = [landed("hotel"), intended("flight"), sending("flight")]

BROKEN: dict[str, tuple[int, list[list[Event]]]] = {
    "an attempt that follows none": (1, [[intended("hotel"), sending("hotel", 2)]]),
    "an undo under another key": (1, [HOTEL, [landed("hotel"), turn(), undo("hotel", "other")]]),
    "a landed effect that is sent again": (2, [HOTEL, [landed("hotel"), sending("hotel", 2)]]),
    "a sending under the fence of another": (6, [[intended("hotel"), sending("hotel", fence=1)]]),
    "an ended run that goes on": (7, [HOTEL, [landed("hotel"), Ended(outcome="settled"), turn()]]),
    "a run that winds down twice": (7, [[turn(), turn()]]),
    "an end while something stands": (
        8,
        [HOTEL, [landed("hotel"), turn(), *[Ended(outcome="compensated")]]],
    ),
    "an end while something is unknown": (
        8,
        [HOTEL, [unknown("hotel"), turn(), Ended(outcome="compensated")]],
    ),
    "an undo of what was refused": (
        8,
        [
            HOTEL,
            [
                Refused(key="hotel", attempt=1, error=ERROR, settles=True, due=NOW),
                turn("refused", "hotel"),
                undo("hotel"),
            ],
        ],
    ),
    "a step that goes forward while the run is undone": (
        8,
        [HOTEL, [landed("hotel"), turn(), intended("flight"), sending("flight")]],
    ),
    "an undo while what follows is unknown": (
        9,
        [HOTEL, BOTH, [unknown("flight"), turn(), undo("hotel")]],
    ),
    "an undo while what follows stands": (
        9,
        [HOTEL, BOTH, [landed("flight"), turn(), undo("hotel")]],
    ),
    "a second case": (
        10,
        [HOTEL, [unknown("hotel"), opened("t1/1", "hotel"), opened("t1/2", "hotel")]],
    ),
    "a verdict without a person": (
        11,
        [HOTEL, [unknown("hotel"), opened("t1/1", "hotel"), closed(actor=None)]],
    ),
    "a verdict from before the look": (
        11,
        [HOTEL, [unknown("hotel"), opened("t1/1", "hotel"), closed(looked_at=NOW + 99)]],
    ),
    "a verdict that comes too early": (
        11,
        [HOTEL, [unknown("hotel"), opened("t1/1", "hotel"), closed(verdict="absent")]],
    ),
    "landed without a receipt": (12, [HOTEL, [landed("hotel", None)]]),
    "absent without a reading": (
        12,
        [
            HOTEL,
            [
                unknown("hotel"),
                Absent(key="hotel", source="probe", read_at=NOW, again="same", watch=None),
            ],
        ],
    ),
    "unknown taken for failed": (12, [HOTEL, [unknown("hotel"), turn("attempts", "hotel")]]),
    "completed without landing": (12, [HOTEL, [Ended(outcome="completed")]]),
    "what follows is left out": (
        13,
        [HOTEL, [Refused(key="hotel", attempt=1, error=ERROR, settles=True, due=NOW)]],
    ),
    "an endless error": (
        15,
        [
            HOTEL,
            [
                Refused(
                    key="hotel",
                    attempt=1,
                    error={**ERROR, "text": "x" * 3000},
                    settles=True,
                    due=NOW,
                )
            ],
        ],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_journal_that_breaks_a_law_is_told_so(name: str) -> None:
    law, records = BROKEN[name]
    found = list(recorded_laws(SPEC, journal([STARTED], *records), 0.0))
    assert law in {number for number, _ in found}, found


def test_a_journal_as_the_machine_writes_it_breaks_none() -> None:
    records: list[list[Event]] = [HOTEL, BOTH, [landed("flight"), Ended(outcome="completed")]]
    assert list(recorded_laws(SPEC, journal([STARTED], *records), 0.0)) == []


def test_what_an_older_tuning_decided_is_not_judged_by_the_newer_one() -> None:
    records = BROKEN["what follows is left out"][1]
    assert list(recorded_laws(SPEC, journal([STARTED], *records), NOW + 99)) == []


class Noted(Ride):
    """A ride whose journal is kept."""

    def tell(self, command: Command) -> Decision:
        decision = super().tell(command)
        if not isinstance(decision, Rejected):
            fences = [event.fence for event in decision if isinstance(event, Sending)]
            self.records.append(
                Record(
                    run_id=self.state.run_id,
                    seq=len(self.records) + 1,
                    at=self.now,
                    fence=fences[0] if fences else 0,
                    due=None,
                    commands=(name_of(command),),
                    events=decision,
                )
            )
        return decision

    @cached_property
    def records(self) -> list[Record]:
        return []


def test_a_person_may_have_it_repeated_after_the_life_of_a_key_that_nobody_can_ask_about() -> None:
    ride = Noted(line("keys"))
    life = ride.spec.steps[0].effect.provider.key_life
    assert life
    while not ride.state.open_cases:
        ride.go()
        ride.reply("a", "unknown")
        if not ride.state.open_cases:
            ride.wait_until_due()
    ride.wait(3 * life)
    ride.resolve("a", "retry")
    ride.wait(3 * life)  # nobody was there to send it
    assert ride.go() == ["a"]
    assert list(recorded_laws(ride.spec, tuple(ride.records), 0.0)) == []
