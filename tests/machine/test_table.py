"""The decision table is what a person has reviewed."""

from __future__ import annotations

from tests.machine import block_table
from tests.machine.table import DECISIONS, rows


def test_the_machine_decides_as_the_table_says() -> None:
    """After a wanted change: `python -m tests.machine.table`, and read the difference."""
    assert rows() == DECISIONS.read_text(encoding="utf-8").splitlines()


def test_the_table_is_short_enough_to_be_read() -> None:
    lines = DECISIONS.read_text(encoding="utf-8").splitlines()
    assert 300 <= len(lines) <= 2500
    assert lines == sorted(set(lines))


def test_the_machine_decides_about_each_block_as_its_table_says() -> None:
    """After a wanted change: `python -m tests.machine.block_table`, and read the difference."""
    assert block_table.rows() == block_table.DECISIONS.read_text(encoding="utf-8").splitlines()
