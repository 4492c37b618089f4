"""What it costs to share the room of a claim: as much however much waits, sleeps or is foreign."""

from __future__ import annotations

import re

import pytest

from saga.journal.backend import driver
from saga.journal.ownership import claim
from saga.journal.sharing import Circle
from tests.databases import files_only, server_only, traced
from tests.journal.parties import FOREIGN, LATER, NOW, ORDERS, OURS, ROOM, TRIPS, Waiting


def question(waiting: Waiting) -> tuple[str, int]:
    """The statement that finds the shares, as the server gets it; how many values it has."""
    statements = list[str]()
    with waiting.database.connection() as connection, waiting.database.turn(connection):
        traced(driver(connection), statements)
        claim(connection, "me", OURS, now=NOW, limit=ROOM, held=(), circle=Circle(crowded=True))
    (text,) = (one for one in statements if "RECURSIVE" in one)
    return text, text.count("%b")


@server_only
@pytest.mark.parametrize("plan", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("count", [0, 3000])
def test_the_shares_are_found_by_their_index_alone(waiting: Waiting, plan: str, count: int) -> None:
    """Whatever the server knows of the table, and also once it keeps the plan."""
    text, values = question(waiting)
    for number in range(values):
        text = text.replace("%b", f"${number + 1}", 1)
    waiting.add("", count, due=0.0)
    with waiting.database.connection() as connection:
        if count:
            driver(connection).execute("VACUUM ANALYZE runs", prepare=False)
        with waiting.database.turn(connection):
            raw = driver(connection)
            raw.execute(f"SET LOCAL plan_cache_mode = {plan}")
            raw.execute(f"PREPARE shares AS {text}", prepare=False)
            (types,) = raw.execute(
                "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'shares'",
                prepare=False,
            ).fetchone()
            given = ", ".join(_value(kind) for kind in types)
            rows = raw.execute(f"EXPLAIN EXECUTE shares ({given})", prepare=False).fetchall()
    found = " ".join(row[0] for row in rows)
    assert "Seq Scan" not in found
    assert set(re.findall(r"using (\w+)|Index Scan on (ix_runs\w+)", found)) <= {
        ("ix_runs_party", ""),
        ("pk_runs", ""),
        ("pk_definitions", ""),
    }


def _value(kind: str) -> str:
    known = {"text": f"'{TRIPS}'", "text[]": f"ARRAY['{TRIPS}', '{ORDERS}']"}
    return known.get(kind, "5")


@files_only
def test_a_claim_does_as_much_however_much_waits_and_sleeps(waiting: Waiting) -> None:
    """Counted in steps of SQLite's machine."""
    waiting.add("big", 200, due=0.0)
    waiting.each((f"s{number}" for number in range(120)), due=LATER)
    waiting.each((f"t{number}" for number in range(120)), 2)
    before = steps(waiting)
    waiting.add("big", 5000, due=100.0)
    waiting.each((f"s{number}" for number in range(120)), 20, due=2 * LATER)
    waiting.each((f"t{number}" for number in range(120)), 20, due=600.0)
    waiting.each(f"u{number}" for number in range(2000))
    waiting.each((f"f{number}" for number in range(2000)), definition=FOREIGN)
    assert steps(waiting) <= before * 1.1


def steps(waiting: Waiting) -> int:
    """Of a claim that shares; what it takes is given back."""
    counted = 0

    def step() -> int:
        nonlocal counted
        counted += 1
        return 0

    circle = Circle(crowded=True, definition=TRIPS, tenant="s")
    with waiting.database.connection() as connection:
        waiting.database.begin(connection)
        driver(connection).set_progress_handler(step, 1)
        claim(connection, "me", OURS, now=NOW, limit=ROOM, held=(), circle=circle)
        driver(connection).set_progress_handler(None, 1)
        waiting.database.rollback(connection)
    return counted
