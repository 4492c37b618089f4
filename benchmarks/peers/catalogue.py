"""Who is measured: which program, with which settings, and what it promises meanwhile.

A peer on PostgreSQL stands here with `server=True`: it is measured where SAGA_BENCH_POSTGRES names
a server. There is none yet, since saga could not be measured beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["OURS", "PEERS", "Contender", "contenders", "peer_names"]

_SERVER = "SAGA_BENCH_POSTGRES"


@dataclass(frozen=True, slots=True)
class Contender:
    """`who` stands in the tables. `peer` names the file of its pinned versions; ours has none.

    `share`: of the sagas of a measurement, since some are that much slower. `alone`, `together`:
    whether it is measured one at a time, and with many in flight. `fsync` says in a word when it
    waits for the disk, `durable` what is there then.
    """

    who: str
    program: str
    peer: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    alone: bool = True
    together: bool = True
    server: bool = False
    fsync: str = "shared"
    durable: str = ""


_DBOS = (
    "every commit is fsynced (WAL, FULL): the result of a step after it ran, nothing before it runs"
)

OURS = (
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
PEERS = (
    Contender(
        "agent-saga",
        "order_on_agent_saga",
        peer="agent-saga",
        durable="intent and end of a step are fsynced; its receipt is not kept, and undos are "
        "fsynced when the last of them is done",
    ),
    Contender("DBOS", "order_on_dbos", peer="dbos", share=0.1, fsync="each", durable=_DBOS),
    Contender(
        "DBOS, 4 threads",
        "order_on_dbos",
        peer="dbos",
        settings={"SAGA_BENCH_THREADS": "4"},
        share=0.1,
        alone=False,
        fsync="each",
        durable="the same",
    ),
)


def peer_names() -> tuple[str, ...]:
    """What can be chosen on the command line."""
    return tuple(dict.fromkeys(one.peer for one in PEERS))


def contenders(chosen: tuple[str, ...], in_flight: int) -> list[Contender]:
    """Ours and the chosen peers, as far as they are measured with so many in flight here."""
    return [
        one
        for one in (*OURS, *(peer for peer in PEERS if peer.peer in chosen))
        if (one.alone if in_flight == 1 else one.together)
        and (_SERVER in os.environ or not one.server)
    ]
