"""Verifying what is stored, by request: all damage by name, with what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from saga.errors import UnknownRun
from saga.inquiries.runs import unknown_run
from saga.inquiries.source import Source
from saga.journal import figures
from saga.journal.verify import Damage, Progress, verify_database, verify_file, verify_run

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Verification:
    """`runs` were verified; `damages` name what is not as it was written, `run_id` is `None` for
    what belongs to no run. `sealed`: with a key; without one only accidents show.
    """

    ok: bool
    runs: int
    damages: tuple[Damage, ...]
    sealed: bool


def verify(source: Source, run_id: str | None, progress: Progress | None = None) -> Verification:
    """Verify one run, or everything. Raises `UnknownRun`.

    Outside any transaction of ours: a long one would hold up whoever writes.
    """
    database = source.database()
    with database.connection() as connection:
        if run_id is None:
            runs = sum(figures.count_runs(connection).values())
            connection.rollback()
            found = [
                *verify_file(connection),
                *verify_database(connection, source.keys, progress),
            ]
        else:
            runs = 1
            try:
                found = verify_run(connection, source.keys, run_id)
            except UnknownRun:
                raise unknown_run(run_id) from None
    return Verification(not found, runs, tuple(found), bool(source.keys))
