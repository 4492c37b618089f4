"""saga itself, as a program like those of its peers.

How many sagas it runs a second depends on who starts them, so that is said: `waiting` (they have
been started before, as another process does it), `starting` (this process starts them meanwhile)
and, one at a time, from the call of `start` to the return of `wait`.
"""

from __future__ import annotations

import os
from contextlib import closing

from benchmarks.figures import quantile
from benchmarks.peers.timing import WARM_UP, Task, Timing, mark, task, tell
from benchmarks.product import Driven, call, drain, feed, names, start
from saga import Client
from saga.orchestrator.collector import tune_collector

__all__ = ["main"]


def main(given: Task) -> None:
    """Run them and tell."""
    url = given.server or f"sqlite:///{given.folder / 'saga.db'}"
    call(url, given.workload, [f"warm-up-{number}" for number in range(WARM_UP)])
    tune_collector()  # as `saga orchestrator` does
    driven = _driven(given, url)
    p50, p99 = (quantile(driven.latencies, share) for share in (0.5, 0.99))
    tell(Timing(driven.count, driven.seconds, driven.cpu, p50, p99))


def _driven(given: Task, url: str) -> Driven:
    run_ids = names(given.count)
    if given.in_flight == 1:
        return call(url, given.workload, run_ids, mark)
    if os.environ.get("SAGA_BENCH_STARTS") == "meanwhile":
        return feed(url, given.workload, run_ids, given.in_flight, mark)
    with closing(Client(url)) as client:
        start(client, given.workload, run_ids)
        return drain(url, run_ids, given.in_flight, mark)


if __name__ == "__main__":
    main(task())
