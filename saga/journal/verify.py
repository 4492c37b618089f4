"""Verifying what is stored: each run by the one verify function, and whatever belongs to no run.

What cannot be seen from inside is that the whole of a run, or the whole database, was put back to
an earlier state or taken away: every row of it was right once. That needs a witness outside. And
where no key is configured, who can compute a SHA-256 can make a row that verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import sqlalchemy as sa

from saga.errors import DatabaseError, Tampered
from saga.journal.backend import backend_of
from saga.journal.definitions import Specs, check_definition
from saga.journal.history import StoredRun, load_history, read_stored
from saga.journal.identity import identify
from saga.journal.pages import Read, last_id, page_of, pages, portions
from saga.journal.quarantine import is_aside, set_aside
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.tables import actions, cases, definitions, journal, runs, turns
from saga.journal.tombstones import check_tombstones

__all__ = ["Damage", "Progress", "patrol", "verify_database", "verify_file", "verify_run"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the runs that have been verified, and how many there are."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written. `run_id` is `None` for what belongs to no run."""

    run_id: str | None
    text: str


def verify_database(
    connection: sa.Connection, keys: Keyring, progress: Progress | None = None
) -> list[Damage]:
    """All damage of a database: none if every stored value is what was written.

    A connection outside any transaction is best: then each batch has one of its own, and writers
    wait for none of it. A run that is set aside counts, whether or not it verifies by now.
    """
    found: list[Damage] = []
    with _moment(connection):
        found += _identity(connection, keys)
        if found:
            return found  # without knowing whose it is there is nothing to judge by
        unreadable, damages = _definitions(connection, keys)
        total = connection.execute(sa.select(sa.func.count()).select_from(runs)).scalar_one()
    found += damages
    specs, done = Specs(keys), 0
    for ids in _batches(connection, found):
        with _moment(connection):
            found += _runs(connection, keys, specs, ids, unreadable)
        done += len(ids)
        if progress is not None:
            progress(done, max(done, total))
    for digest, count in unreadable.items():
        if count:
            found.append(Damage(None, f"the {count} runs of definition {digest!a} are not read"))
    with _moment(connection):
        found += _orphans(connection)
    found += [Damage(*what) for what in check_tombstones(keys, _reader(connection))]
    return found


def verify_run(connection: sa.Connection, keys: Keyring, run_id: str) -> list[Damage]:
    """The damage of one run. Raises `UnknownRun` if nothing of it is stored."""
    with _moment(connection):
        stored = read_stored(connection, [run_id])[run_id]
        return _run(connection, keys, Specs(keys), run_id, stored)


def patrol(
    connection: sa.Connection,
    keys: Keyring,
    specs: Specs,
    *,
    after: str | None,
    limit: int,
    now: float,
) -> str | None:
    """Verify the next runs in the order of their ids, and set aside what is damaged.

    For whoever has nothing better to do: damage may hide a run from those who claim. In the
    caller's write transaction; gives the id to go on from, `None` at the end.
    """
    page = page_of(connection, after, limit)
    is_text = backend_of(connection).is_text
    ids = [run_id for (run_id,) in page if is_text(run_id)]
    for run_id, stored in read_stored(connection, ids).items():
        if _hidden(connection, keys, specs, run_id, stored) is None:
            continue
        # Somebody may have written to it, or purged it, between two of our questions.
        backend_of(connection).lock(connection, [run_id])
        locked = read_stored(connection, [run_id])[run_id]
        if (damage := _hidden(connection, keys, specs, run_id, locked)) is not None:
            set_aside(connection, keys, run_id, damage, now)
    return last_id(page) if len(page) == limit else None


def _hidden(
    connection: sa.Connection, keys: Keyring, specs: Specs, run_id: str, stored: StoredRun
) -> str | None:
    """What is wrong with a run that is not set aside yet."""
    if stored.head is None:
        return None  # gone since we read its id
    try:
        if not is_aside(keys, run_id, stored.cases, stored.head["quarantined_at"]):
            load_history(connection, keys, specs, run_id, stored)
    except NewerFormat:
        return None
    except Tampered as damage:
        return str(damage)
    return None


def verify_file(connection: sa.Connection) -> list[Damage]:
    """The damage below the tables, as the database itself sees it.

    A lost entry of an index hides a row from whoever looks it up, while every value of it verifies.
    """
    return [Damage(None, text) for text in backend_of(connection).flaws(connection)]


@contextmanager
def _moment(connection: sa.Connection) -> Iterator[None]:
    """One state of the database to look at: the caller's transaction, or a short one."""
    backend = backend_of(connection)
    if backend.in_transaction(connection):
        yield
        return
    backend.begin_reading(connection)
    try:
        yield
    finally:
        backend.rollback(connection)


def _reader(connection: sa.Connection) -> Read:
    def read(work: Callable[[sa.Connection], Sequence[Any]]) -> Sequence[Any]:
        with _moment(connection):
            return work(connection)

    return read


def _identity(connection: sa.Connection, keys: Keyring) -> list[Damage]:
    try:
        identify(connection, keys)
    except DatabaseError as error:
        return [Damage(None, f"the database: {error.message}")]
    return []


def _definitions(connection: sa.Connection, keys: Keyring) -> tuple[dict[Any, int], list[Damage]]:
    """The digests of those that do not verify, each with a counter of its runs."""
    found: list[Damage] = []
    unreadable: dict[Any, int] = {}
    for row in connection.execute(sa.select(definitions)):
        try:
            check_definition(keys, row)
        except NewerFormat:
            unreadable[row.digest] = 0
        except Tampered as damage:
            unreadable[row.digest] = 0
            found.append(Damage(None, damage.message))
    return unreadable, found


def _runs(
    connection: sa.Connection,
    keys: Keyring,
    specs: Specs,
    ids: Sequence[str],
    unreadable: dict[Any, int],
) -> list[Damage]:
    found: list[Damage] = []
    for run_id, stored in read_stored(connection, ids).items():
        if stored.head is None:
            continue  # gone since we read its id; if rows of it are left, they are orphans
        if stored.head["definition"] in unreadable:
            unreadable[stored.head["definition"]] += 1
        else:
            found += _run(connection, keys, specs, run_id, stored)
    return found


def _run(
    connection: sa.Connection, keys: Keyring, specs: Specs, run_id: str, stored: StoredRun
) -> list[Damage]:
    try:
        load_history(connection, keys, specs, run_id, stored)
    except NewerFormat:
        pass
    except Tampered as damage:
        return [Damage(run_id, damage.message)]
    since = stored.head["quarantined_at"]
    if since is None:
        return []
    when = datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds")
    text = f"run {run_id}: set aside since {when}; what is stored of it verifies by now"
    return [Damage(run_id, text)]


def _orphans(connection: sa.Connection) -> list[Damage]:
    """Rows whose run has no head."""
    found: list[Damage] = []
    for table in (journal, actions, cases, turns):
        head = sa.exists().where(runs.c.run_id == table.c.run_id)
        left = sa.select(table.c.run_id, sa.func.count()).where(~head).group_by(table.c.run_id)
        for run_id, count in connection.execute(left):
            name = run_id if isinstance(run_id, str) else None
            text = f"run {run_id!a}: it has no head, and {count} rows in {table.name}"
            found.append(Damage(name, text))
    return found


def _batches(connection: sa.Connection, found: list[Damage]) -> Iterator[list[str]]:
    """The ids of all runs, in portions that fit into memory; those that are none are damage."""
    is_text = backend_of(connection).is_text
    for page in pages(_reader(connection), runs.c.version):
        strange = [run_id for run_id, _ in page if not is_text(run_id)]
        found += [Damage(None, f"a row of runs has the id {run_id!a}") for run_id in strange]
        yield from portions((run_id, version) for run_id, version in page if is_text(run_id))
