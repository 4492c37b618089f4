"""The decision tables of the blocks: one small saga for each, and what is special about it.

    python -m tests.machine.block_table      writes tests/machine/block_decisions.txt anew

As in `tests.machine.table`, each row behind the name of its block. What a call, a probe or a person
settles is in the table of the order flow; here little goes wrong, and the block does its work.
"""

from __future__ import annotations

from pathlib import Path

from saga.definition.spec import SagaSpec
from tests.machine.edges import Budget
from tests.machine.sagas import line, saga
from tests.machine.table import NOTHING, rows_of

__all__ = ["BLOCKS", "DECISIONS", "rows"]

DECISIONS = Path(__file__).with_name("block_decisions.txt")

REFUSED = NOTHING._replace(refused=1)
BLOCKS: dict[str, tuple[SagaSpec, tuple[Budget, ...]]] = {
    "branches": (saga(["keys", "keys"], [[], []]), (REFUSED,)),
    "optional": (line("keys optional", "keys"), (REFUSED,)),
    "pivot": (line("keys pivot", "keys reads"), (REFUSED._replace(cancel=1),)),
    "time": (line("naps", "keys", deadline=9.0), (NOTHING._replace(cancel=1),)),
    "signal": (line("signal", "keys"), (NOTHING._replace(signal=1, cancel=1),)),
    "approval": (line("keys twice", deadline=9.0), (NOTHING._replace(decide=2, cancel=1),)),
    "sub-saga": (line("keys grouped", "keys grouped"), (NOTHING._replace(not_sent=2),)),
    "list": (line("keys each"), (REFUSED,)),
    "list, by target": (line("keys each targeted serial"), (NOTHING._replace(unknown=1),)),
    "alternative": (line("keys once else", "keys"), (NOTHING._replace(refused=2),)),
    "savepoint": (
        saga(["keys first", "keys first", "keys other"], [[], [0], []]),
        (NOTHING._replace(refused=2),),
    ),
    "savepoint, cancelled": (
        saga(["keys first", "keys other", "keys"], [[], [], [0, 1]]),
        (REFUSED._replace(cancel=1),),
    ),
}


def rows() -> list[str]:
    """All tables, each row behind the name of its block."""
    tables = {name: rows_of(spec, budgets) for name, (spec, budgets) in BLOCKS.items()}
    return [f"{name} | {row}" for name, table in tables.items() for row in table]


if __name__ == "__main__":
    DECISIONS.write_text("\n".join(rows()) + "\n", encoding="utf-8")
