"""`python -m benchmarks`: measure, print tables, write JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from benchmarks.growth import measure_growth
from benchmarks.options import Options, parse
from benchmarks.peers.catalogue import peer_names
from benchmarks.peers.contest import measure_peers
from benchmarks.postgres import measure_postgres
from benchmarks.progress import say
from benchmarks.recovery import measure_recovery
from benchmarks.report import Report, write_json
from benchmarks.sqlite import measure_sqlite
from benchmarks.storm import measure_storm
from saga.orchestrator.collector import tune_collector

__all__ = ["main"]

_MEASURES: Mapping[str, Callable[[Options], Report]] = {
    "sqlite": measure_sqlite,
    "postgres": measure_postgres,
    "peers": measure_peers,
    "growth": measure_growth,
    "recovery": measure_recovery,
    "storm": measure_storm,
}


def main(words: list[str]) -> int:
    """Measure the sections that were asked for; the exit code."""
    options = parse(words, peer_names())
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        say(f"{error}; name another folder with --folder")
        return 1
    tune_collector()  # as `saga orchestrator` does
    failed = False
    for name in options.sections:
        report = _MEASURES[name](options)
        print(f"{report.text()}\n", flush=True)
        say(f"figures: {write_json(options.folder / 'results', report, options)}")
        failed |= report.failed
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
