"""Who is measured: which program, with which settings, and what it promises meanwhile.

With `server=True` it is measured on PostgreSQL, else on files of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = ["OURS", "PEERS", "Contender", "contenders", "peer_names"]


@dataclass(frozen=True, slots=True)
class Contender:
    """`who` stands in the tables. `peer` names the file of its pinned versions; ours has none.

    `share`: of the sagas of a measurement, since some are that much slower. `alone`, `together`:
    whether it is measured one at a time, and with many in flight. `schema`: its database has ours.
    `fsync` says in a word when it waits for the disk, `durable` what is there then.
    """

    who: str
    program: str
    peer: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    alone: bool = True
    together: bool = True
    server: bool = False
    schema: bool = False
    fsync: str = "shared"
    durable: str = ""

    @property
    def where(self) -> str:
        """As the tables say it."""
        return "PostgreSQL" if self.server else "files"


_DBOS_FILE = Contender(
    "DBOS",
    "order_on_dbos",
    peer="dbos",
    share=0.1,
    fsync="each",
    durable="every commit is fsynced (a file: WAL, FULL): the result of a step after it ran, "
    "nothing before it runs",
)
_DBOS_FILE_4 = replace(
    _DBOS_FILE,
    who="DBOS, 4 threads",
    settings={"SAGA_BENCH_THREADS": "4"},
    alone=False,
    durable="the same",
)
_DBOS = replace(_DBOS_FILE, server=True)

_ABSURD = Contender(
    "Absurd",
    "order_on_absurd",
    peer="absurd-sdk",
    share=0.3,
    server=True,
    fsync="each",
    durable="every commit is fsynced: the result of a step after it ran; nothing before it runs, "
    "and nothing of one that fails",
)

_OURS = (
    Contender(
        "saga",
        "order_on_saga",
        durable="an intent is fsynced before its call, a receipt before the next call, undos too",
    ),
    Contender(
        "saga, starts too",
        "order_on_saga",
        settings={"SAGA_BENCH_STARTS": "meanwhile"},
        alone=False,
        durable="the same, and a fsync for each start before it is acknowledged",
    ),
)
OURS = (*_OURS, *(replace(one, server=True, schema=True) for one in _OURS))
PEERS = (
    Contender(
        "agent-saga",
        "order_on_agent_saga",
        peer="agent-saga",
        durable="intent and end of a step are fsynced; its receipt is not kept, and undos are "
        "fsynced when the last of them is done",
    ),
    _DBOS_FILE,
    _DBOS_FILE_4,
    _DBOS,
    replace(_DBOS_FILE_4, server=True),
    replace(
        _DBOS,
        who="DBOS, 4 callers",
        settings={"SAGA_BENCH_CALLERS": "4"},
        alone=False,
        durable="the same; by plain calls, no more than four sagas in flight",
    ),
    _ABSURD,
    replace(
        _ABSURD,
        who="Absurd, poll 1 ms",
        settings={"SAGA_BENCH_POLL": "0.001"},
        together=False,
        durable="the same",
    ),
)


def peer_names() -> tuple[str, ...]:
    """What can be chosen on the command line."""
    return tuple(dict.fromkeys(one.peer for one in PEERS))


def contenders(chosen: tuple[str, ...], in_flight: int, *, server: bool) -> list[Contender]:
    """Ours and the chosen peers there, as far as they are measured with so many in flight.

    Nobody, if others are chosen and none of them is there.
    """
    peers = [one for one in PEERS if one.server == server and one.peer in chosen]
    if chosen and not peers:
        return []
    ours = [one for one in OURS if one.server == server]
    return [one for one in [*ours, *peers] if (one.alone if in_flight == 1 else one.together)]
