"""The section `storm`: orchestrators on PostgreSQL, and everything that may come over them.

Nothing is measured here but whether the laws hold. Whatever was asked for has to have happened: a
fault that was not inflicted as often as that is a failure too.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.figures import table
from benchmarks.options import Options
from benchmarks.progress import say
from benchmarks.report import Report
from tests.crash import storm as crash
from tests.postgres.programs import programs
from tests.postgres.server import served
from tests.postgres.storm import LONG, SHORT, Gale, storm

__all__ = ["measure_storm"]

_NOTES = """Laws are checked against the books of the shop: what landed there, under which key. The
same orders, faults and verdicts come again with --seed; what meets what is up to the machine."""


def measure_storm(options: Options) -> Report:
    """The short one, or with `--long` the long one, or a part of that."""
    seed = options.seed or secrets.token_hex(4)
    gale = LONG.part(options.part).with_seed(seed) if options.long else SHORT.with_seed(seed)
    folder = Path(tempfile.mkdtemp(prefix="storm-", dir=options.folder.absolute()))
    say(f"storm {seed}: about {gale.seconds:.0f} seconds and the rest; its files: {folder}")
    with served(fsync=True, of=programs()) as server:
        found = storm(gale, server, folder, say)
    report = Report("storm", failed=bool(found.faults))
    report.tables.append(table([("", "asked for", "done"), *_rows(gale, found)]))
    report.notes += [*found.lines(), _NOTES]
    report.figures.append({"gale": asdict(gale), "found": _figures(found)})
    if found.faults:
        say(f"its files are kept: {folder}")
    else:
        shutil.rmtree(folder)
    return report


def _rows(gale: Gale, found: crash.Report) -> list[tuple[str, ...]]:
    done = {
        "processes killed (SIGKILL)": (gale.kills, found.kills),
        "processes stopped past the lease": (gale.stops, found.stops),
        **{name: (found.wanted[name], number) for name, number in found.troubles.items()},
        "runs": (gale.runs, found.outcomes.total()),
    }
    return [(name, f"{asked:,}", f"{have:,}") for name, (asked, have) in done.items()]


def _figures(found: crash.Report) -> dict[str, object]:
    return {
        "seconds": round(found.seconds, 1),
        "kills": found.kills,
        "stops": found.stops,
        "taken_over": found.taken_over,
        **found.troubles,
        "outcomes": dict(found.outcomes),
        "effects": found.effects,
        "verdicts": dict(found.verdicts),
        "windows": dict(found.tally.windows),
        "faults": list(found.faults),
    }
