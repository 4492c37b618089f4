"""Alter one thing at a time and ask `verify` about it.

`python -m tests.journal.tamper --all` goes through every byte of every value, with a key and
without one, and prints how many changes were named; `--every N` takes each Nth.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from multiprocessing import get_context
from typing import Any

import psycopg

from saga.journal.backend import driver
from saga.journal.database import Database
from saga.journal.sqlite import database_path, library
from saga.journal.verify import Damage, verify_database
from tests.databases import Unscrupulous
from tests.journal.changes import Change, changes_of_rows, changes_of_values, type_changes
from tests.journal.older import older_rows
from tests.journal.world import BYSTANDER, KEY, RUNS, build, opened

__all__ = ["Bench", "all_changes", "apply", "judge", "loosen", "sampled", "unnamed"]


class Bench:
    """A connection on which changes are made, looked at and rolled back."""

    def __init__(self, database: Database) -> None:
        self.keys = database.keys
        self.connection = database.connection()
        self.cursor = Unscrupulous(driver(self.connection))

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def changed(self, change: Change) -> Iterator[bool]:
        """The change is made inside; False if the database does not take it at all."""
        self.cursor.execute("BEGIN")
        try:
            yield apply(self.cursor, change)
        finally:
            self.cursor.execute("ROLLBACK")

    def verdict(self, change: Change) -> str | None:
        """What is wrong with what `verify` says; `None` if it is right, `""` if it cannot be."""
        with self.changed(change) as stored:
            if not stored:
                return ""
            return judge(change, verify_database(self.connection, self.keys))


def apply(cursor: Any, change: Change) -> bool:
    """Make a change; False if the database does not take it."""
    try:
        for sql, parameters in change.statements:
            cursor.execute(sql, parameters)
    except (library.IntegrityError, psycopg.IntegrityError, psycopg.DataError):
        return False
    return True


def judge(change: Change, damages: list[Damage]) -> str | None:
    """Whether the damage is named, and nobody else is."""
    if not any(name in damage.text for damage in damages for name in change.names):
        return f"{change.what}: not named; {[damage.text for damage in damages]}"
    named = {damage.run_id for damage in damages} & {*RUNS, BYSTANDER}
    others = named - set(change.runs)
    if others and not change.group.startswith("definitions"):  # runs are pinned to those
        return f"{change.what}: {others} named too"
    return None


def all_changes(bench: Bench) -> Iterator[Change]:
    """Every change of values and rows."""
    older = (older_rows(bench.connection, bench.cursor, bench.keys, run) for run in RUNS)
    return chain(
        changes_of_values(bench.cursor),
        changes_of_rows(bench.cursor),
        chain.from_iterable(older),
    )


def sampled(changes: Iterable[Change], most: int) -> list[Change]:
    """At most so many of each group, evenly spread: the same ones each time."""
    groups: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        groups[change.group].append(change)
    found: list[Change] = []
    for group in groups.values():
        count = min(most, len(group))
        found += [group[index * len(group) // count] for index in range(count)]
    return found


def unnamed(bench: Bench, changes: Iterable[Change]) -> tuple[Counter[str], list[str]]:
    """How many changes of each group were judged, and what is wrong with the verdicts."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for change in changes:
        verdict = bench.verdict(change)
        if verdict == "":
            counts["(not storable)"] += 1
            continue
        counts[change.group] += 1
        if verdict is not None:
            wrong.append(verdict)
    return counts, wrong


def loosen(url: str) -> None:
    """Take from the tables what keeps wrong types and NULLs out, as a hex editor could."""
    connection = library.connect(str(database_path(url)), isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    for name, sql in tables.fetchall():
        loose = re.sub(r"(TEXT|REAL|INTEGER) NOT NULL", r"\1", sql)
        loose = re.sub(r"(?<=[)D]),?\s+STRICT", "", loose)
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (loose, name))
    connection.execute("PRAGMA writable_schema=RESET")
    connection.close()


def _part(job: tuple[str, str | None, bool, int, int, int]) -> tuple[Counter[str], list[str]]:
    url, keys, loose, every, part, parts = job
    path = database_path(url)
    own = shutil.copyfile(path, f"{path}-{part}")  # each with a file to itself: nobody waits
    database = opened(f"sqlite:///{own}", keys)
    bench = Bench(database)
    try:
        changes = type_changes(bench.cursor) if loose else all_changes(bench)
        ours = (c for i, c in enumerate(changes) if i % every == 0 and i // every % parts == part)
        return unnamed(bench, ours)
    finally:
        bench.close()
        database.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every change")
    parser.add_argument("--every", type=int, default=50, metavar="N", help="each Nth")
    options = parser.parse_args()
    wrong: list[str] = []
    for keys, loose in ((KEY, False), (None, False), (KEY, True), (None, True)):
        title = f"{'HMAC' if keys else 'SHA-256'}{', types and NULLs' if loose else ''}"
        wrong += _swept(title, keys, loose=loose, every=1 if options.all else options.every)
    return 1 if wrong else 0


def _swept(title: str, keys: str | None, *, loose: bool, every: int) -> list[str]:
    """Go through the changes of one kind of database, on all processors; say what came of it."""
    parts = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        url = build(f"sqlite:///{folder}/saga.db", keys)
        if loose:
            loosen(url)
        jobs = [(url, keys, loose, every, part, parts) for part in range(parts)]
        with get_context("spawn").Pool(parts) as pool:
            results = pool.map(_part, jobs)
    counts = sum((result[0] for result in results), Counter[str]())
    wrong = [text for result in results for text in result[1]]
    skipped = counts.pop("(not storable)", 0)
    lines = [f"{title}:", *(f"  {count:7,}  {group}" for group, count in sorted(counts.items()))]
    lines.append(f"  {counts.total():7,}  in all, {len(wrong)} wrong, {skipped} not storable")
    lines += [f"  WRONG: {text}" for text in wrong[:20]]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
