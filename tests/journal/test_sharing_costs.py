"""What it costs to share the room of a claim: as much however much waits, sleeps or is foreign."""

from __future__ import annotations

import re

import pytest

from saga.journal.backend import driver
from saga.journal.ownership import claim, outlook
from saga.journal.sharing import Circle
from tests.databases import files_only, server_only, traced
from tests.journal.parties import FOREIGN, LATER, NOW, ORDERS, OURS, ROOM, TRIPS, Waiting


def planned(waiting: Waiting, plan: str) -> dict[str, str]:
    """The plan of each question about heads that nobody has: the shares, oldest, earliest."""
    statements, found = list[str](), dict[str, str]()
    with waiting.database.connection() as connection, waiting.database.turn(connection):
        raw, circle = driver(connection), Circle(crowded=True)
        traced(raw, statements)
        claim(connection, "me", OURS, now=NOW, limit=ROOM, held=(), circle=circle)
        outlook(connection, "me", OURS, now=NOW, skip=())
        raw.execute(f"SET LOCAL plan_cache_mode = {plan}", prepare=False)
        for text in [one for one in statements if "runs.owner IS NULL" in one]:
            for number in range(text.count("%b")):
                text = text.replace("%b", f"${number + 1}", 1)  # noqa: PLW2901
            raw.execute(f"PREPARE asked AS {text}", prepare=False)
            (types,) = raw.execute(
                "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'asked'",
                prepare=False,
            ).fetchone()
            given = ", ".join(_value(kind) for kind in types)
            rows = raw.execute(f"EXPLAIN EXECUTE asked ({given})", prepare=False).fetchall()
            raw.execute("DEALLOCATE asked", prepare=False)
            name = "shares" if "RECURSIVE" in text else "earliest" if "min(" in text else "oldest"
            found[name] = " ".join(row[0] for row in rows)
    return found


def _value(kind: str) -> str:
    known = {"text": f"'{TRIPS}'", "text[]": f"ARRAY['{TRIPS}', '{ORDERS}']"}
    return known.get(kind, "5")


@server_only
@pytest.mark.parametrize("plan", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize(("count", "analyzed"), [(0, False), (3000, False), (3000, True)])
def test_each_question_of_a_claim_goes_by_its_own_index(
    waiting: Waiting, plan: str, count: int, *, analyzed: bool
) -> None:
    """Whatever the server knows of the table, and also once it keeps the plan."""
    waiting.add("", count, due=0.0)
    if analyzed:
        with waiting.database.connection() as connection:
            driver(connection).execute("VACUUM ANALYZE runs", prepare=False)
    plans = planned(waiting, plan)
    assert set(plans) == {"shares", "oldest", "earliest"}
    used = {name: {*re.findall(r" (ix_\w+|pk_\w+)", found)} for name, found in plans.items()}
    assert "Seq Scan" not in "".join(plans.values())
    assert used["shares"] <= {"ix_runs_party", "pk_runs", "pk_definitions"}
    assert used["oldest"] == used["earliest"] == {"ix_runs_claim"}


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
