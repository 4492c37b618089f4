"""A person's verdict on a damaged run: it goes on once it verifies again, or stays aside."""

from __future__ import annotations

import sqlalchemy as sa

from saga.errors import Conflict, NotAllowed, Tampered, UnknownRun
from saga.journal.definitions import Specs
from saga.journal.history import load
from saga.journal.quarantine import seal_case
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.tables import cases, runs
from saga.journal.turns import give_up_turn

__all__ = ["close_damaged"]


def close_damaged(
    connection: sa.Connection,
    keys: Keyring,
    specs: Specs,
    case_id: str,
    verdict: str,
    *,
    version: int,
    actor: str,
    reason: str,
    evidence: str | None,
    now: float,
) -> None:
    """Close the case of a damaged run: `retry` if it verifies clean, or `accept`.

    Raises `Conflict` (closed, or another version) and `NotAllowed`.
    """
    row = connection.execute(sa.select(cases).where(cases.c.case_id == case_id)).one()
    if row.state != "open" or row.version != version:
        raise Conflict(f"case {case_id} is {row.state}, at version {row.version}")
    if verdict not in ("retry", "accept"):
        raise NotAllowed("not_possible", f"{verdict!r} is not possible here: retry or accept")
    if verdict == "retry":
        mark = runs.update().where(runs.c.run_id == row.run_id)
        # A head from a backup has no mark, and the mark is no part of what must be clean.
        connection.execute(mark.values(quarantined_at=row.opened_at, owner=None))
        _ensure_clean(connection, keys, specs, row.run_id)
        connection.execute(mark.values(quarantined_at=None))
    if verdict == "accept":
        give_up_turn(connection, row.run_id)
    closed = {
        **row._mapping,  # noqa: SLF001  the public name of a row's columns, whatever it looks like
        "state": "closed",
        "version": row.version + 1,
        "closed_at": float(now),
        "verdict": verdict,
        "actor": actor,
        # `reason` says what was damaged; what the person says stands here, with the evidence.
        "evidence": reason if evidence is None else f"{reason}\n{evidence}",
    }
    sealed = seal_case(keys, list(closed.values()))
    connection.execute(
        cases.update()
        .where(cases.c.case_id == case_id)
        .values(dict(zip(closed, sealed, strict=True)))
    )


def _ensure_clean(connection: sa.Connection, keys: Keyring, specs: Specs, run_id: str) -> None:
    try:
        load(connection, keys, specs, run_id)
    except (Tampered, UnknownRun) as damage:
        raise NotAllowed("not_possible", f"it still does not verify: {damage}") from damage
    except NewerFormat:
        return  # whole as far as we can read it; whoever runs it reads on
