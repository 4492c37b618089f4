"""Where the processes of a storm died: counted afterwards, from the journal and the shop's books.

  3  the shop has the effect, the journal has no result of the sending
  2  the shop has the request, and had not acted
  4  the last record holds a receipt, and of what it began nothing has reached the shop
  1  intent and sending are on record, and nothing of them has reached the shop

In this order, so that a death counts for one window of a run: the record that holds a receipt also
holds the next sending, so a death right after it is before the action of the next step too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tests.crash.evidence import Head, Journal, Record

__all__ = ["Death", "Tally", "tally"]

_RESULTS = ("landed", "refused", "not_sent", "unknown", "absent")


@dataclass(frozen=True)
class Death:
    """A process killed at a moment (unix seconds), and the runs that it owned then.

    `age` is how many seconds after its first claim that was.
    """

    at: float
    age: float
    owned: Sequence[Head]


@dataclass
class Tally:
    """By window, how many runs were in it; and how long each waited for a record of its heir.

    Where the heir was killed too before it could write one, nothing is measured.
    """

    windows: Counter[int]
    waits: list[float]


def tally(
    journal: Journal,
    deaths: Sequence[Death],
    arrivals: Mapping[str, Sequence[float]],
    landings: Mapping[str, Sequence[float]],
) -> Tally:
    """Count all deaths. `arrivals` and `landings`: by key, when the shop was asked and acted."""
    found = Tally(Counter(), [])
    for death in deaths:
        for head in death.owned:
            records = journal.records(head.run_id)
            before, after = records[: head.version], records[head.version :]
            window = _window(before, after, death.at, arrivals, landings)
            if window is not None:
                found.windows[window] += 1
            heir = next((record for record in after if record.fence > head.fence), None)
            if window in (1, 2, 3) and heir is not None and heir.fence == head.fence + 1:
                found.waits.append(heir.at - death.at)
    return found


def _window(
    before: Sequence[Record],
    after: Sequence[Record],
    died: float,
    arrivals: Mapping[str, Sequence[float]],
    landings: Mapping[str, Sequence[float]],
) -> int | None:
    sent = _in_flight(before)
    recorded = before[-1].find("landed") is not None
    if sent is None:
        return 4 if recorded else None
    key, at = sent
    if any(landed <= died for landed in landings.get(key, ())):
        return 3
    again = min((record.at for record in after if record.find("sending", key=key)), default=inf)
    if any(at <= arrived < again for arrived in arrivals.get(key, ())):
        return 2
    return 4 if recorded else 1


def _in_flight(records: Sequence[Record]) -> tuple[str, float] | None:
    """Key and time of the sending that has no result; steps follow one another, so it is one."""
    sent: tuple[str, float] | None = None
    for record in records:
        for event in record.events:
            if event["kind"] == "sending":
                sent = event["key"], record.at
            elif event["kind"] in _RESULTS and sent is not None and event["key"] == sent[0]:
                sent = None
    return sent
