"""The simulation of a large server: what the document quotes, and what must be so."""

from __future__ import annotations

import pytest

from benchmarks.scale import Costs, main, simulated
from tests.benchmarks.measuring import ROOT


def test_the_document_quotes_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out in (ROOT / "docs" / "scale.md").read_text("utf-8")


def test_one_process_is_limited_by_its_loop_and_many_by_the_server() -> None:
    costs = Costs(loop=500, server=250, flush=100)
    assert simulated(1, 8, costs) == pytest.approx(2000, rel=0.05)
    assert simulated(32, 2, costs) == pytest.approx(8000, rel=0.05)


def test_a_slow_disk_holds_up_one_saga_and_not_hundreds() -> None:
    slow = Costs(flush=5000, in_flight=1)
    assert simulated(1, 8, slow) == pytest.approx(1e6 / (4 * 5000 + 450 + 200), rel=0.05)
    assert simulated(1, 8, Costs(flush=5000, in_flight=1000)) > 2000
