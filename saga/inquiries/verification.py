"""Verifying what is stored, by request: all damage by name, with what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from saga.inquiries.source import Source
from saga.journal import figures
from saga.journal.tombstones import count_tombstones
from saga.journal.verify import Damage, Progress, verify_database, verify_file, verify_run

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Verification:
    """`runs` were verified; `damages` name what is not as it was written, `run_id` is `None` for
    what belongs to no run. `sealed`: with a key; without one only accidents show. `tombstones`: of
    runs that were purged, verified too.
    """

    ok: bool
    runs: int
    damages: tuple[Damage, ...]
    sealed: bool
    tombstones: int = 0


def verify(source: Source, run_id: str | None, progress: Progress | None = None) -> Verification:
    """Verify one run, or everything. Raises `UnknownRun`.

    Outside any transaction of ours: a long one would hold up whoever writes.
    """
    database = source.database()
    with database.connection() as connection:
        if run_id is None:
            runs = sum(figures.count_runs(connection).values())
            tombstones = count_tombstones(connection)
            connection.rollback()
            found = [
                *verify_file(connection),
                *verify_database(connection, source.keys, progress),
            ]
        else:
            runs, tombstones = 1, 0
            found = verify_run(connection, source.keys, run_id)
    return Verification(not found, runs, tuple(found), bool(source.keys), tombstones)
