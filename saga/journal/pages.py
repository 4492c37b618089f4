"""Going through all runs, however many there are, in the order of their ids.

Everything is read in short portions: nobody who writes waits for it, and it fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import sqlalchemy as sa

from saga.journal.backend import backend_of
from saga.journal.tables import runs

__all__ = ["PAGE", "Read", "last_id", "page_of", "pages", "portions"]

Read: TypeAlias = Callable[[Callable[[sa.Connection], Sequence[Any]]], Sequence[Any]]
"""Reads rows from one state of the database, in a transaction that is over when it has them."""

PAGE = 500  # rows read at once
_RUNS_AT_ONCE = 100
_RECORDS_AT_ONCE = 1000  # a run with more is alone in its portion


def pages(read: Read, *columns: sa.Column[Any]) -> Iterator[Sequence[Any]]:
    """Ids and these columns of all runs, page by page; what was altered may be no text at all."""
    after: str | None = None
    while True:
        page = read(partial(page_of, after=after, limit=PAGE, columns=columns))
        if page:
            yield page
        if len(page) < PAGE or (after := last_id(page)) is None:
            return


def page_of(
    connection: sa.Connection,
    after: str | None,
    limit: int,
    columns: Sequence[sa.Column[Any]] = (),
) -> Sequence[Any]:
    """Ids and these columns of the next runs behind an id."""
    select = sa.select(runs.c.run_id, *columns).order_by(runs.c.run_id).limit(limit)
    if after is not None:
        select = select.where(runs.c.run_id > _place(connection, after))
    return connection.execute(select).all()


def last_id(page: Sequence[Any]) -> str | None:
    """Where the next page begins."""
    return next((row[0] for row in reversed(page) if isinstance(row[0], str)), None)


def portions(sized: Iterable[tuple[str, object]]) -> Iterator[list[str]]:
    """Ids in portions, each of so few runs and records that a transaction with it is short."""
    ids, records = list[str](), 0
    for run_id, version in sized:
        size = version if isinstance(version, int) else 1
        if ids and (len(ids) == _RUNS_AT_ONCE or records + size > _RECORDS_AT_ONCE):
            yield ids
            ids, records = [], 0
        ids.append(run_id)
        records += size
    if ids:
        yield ids


def _place(connection: sa.Connection, run_id: str) -> Any:
    if backend_of(connection).is_text(run_id):
        return run_id
    raw = run_id.encode("utf-8", "surrogateescape")
    return sa.cast(sa.literal(raw, sa.LargeBinary), sa.Text)
