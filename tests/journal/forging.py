"""Forging: a record edited, and everything that hangs on it sealed anew with some key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saga.journal.records import seal_record
from saga.journal.sealing import Keyring
from tests.journal.changes import Change, Statement, rows_of

__all__ = ["forge"]


def forge(
    cursor: Any, keys: Keyring, run_id: str, edit: Callable[[int, str], str], *, head: bool = True
) -> Change:
    """Every body of a run edited, by its number; the chain and its head are made to fit."""
    previous = ""
    statements: list[Statement] = []
    for row in rows_of(cursor, "journal"):
        if row.run != run_id:
            continue
        body = edit(row.values["seq"], row.values["body"])
        previous = seal_record(keys, previous, run_id, row.values["seq"], body)
        update = f"UPDATE journal SET body = ?, key_id = ?, seal = ? WHERE {row.where}"
        statements.append((update, (body, keys.key_id, previous, *row.key)))
    if head:
        (run,) = (row for row in rows_of(cursor, "runs") if row.run == run_id)
        values = run.values
        parts = (
            run_id,
            str(values["version"]),
            previous,
            values["phase"],
            values["outcome"] or "",
            repr(values["due_at"]),
            values["definition"],
        )
        update = "UPDATE runs SET key_id = ?, seal = ? WHERE run_id = ?"
        statements.append((update, (keys.key_id, keys.seal("head", *parts), run_id)))
    return Change("forged", f"{run_id} sealed anew", tuple(statements), (run_id,), (run_id,))
