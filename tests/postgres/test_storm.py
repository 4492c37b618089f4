"""A short storm over a server; `python3 dev.py bench storm --long` is the long one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.postgres.programs import programs
from tests.postgres.server import served
from tests.postgres.storm import SHORT, storm
from tests.postgres.troubles import clockwork


def test_no_run_is_lost_and_no_effect_is_doubled_in_a_storm_over_a_server(tmp_path: Path) -> None:
    """Where there is no libfaketime no clock jumps; `bench storm` asks for it."""
    gale = SHORT if clockwork() is not None else replace(SHORT, jumps=0)
    with served(of=programs()) as server:
        report = storm(gale, server, tmp_path)
    assert report.faults == (), "\n".join(report.lines())
    assert report.tally.windows.total() > 0
