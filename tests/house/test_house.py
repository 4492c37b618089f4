"""The tree keeps the rules of the house. Each test names one; a failure lists every place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.house import rules
from tests.house.rules import Source

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("saga", "steps")
ALL = (*SHIPPED, "benchmarks", "dev.py", "examples", "migrations", "tests")
SEAMS = {Path("saga/clock.py"), Path("saga/ids.py")}


def sources(*places: str) -> list[Source]:
    found = [
        path
        for place in places
        for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    return [Source(path.relative_to(ROOT), path.read_text("utf-8")) for path in sorted(found)]


def nothing_of(findings: Iterable[str]) -> None:
    found = sorted(findings)
    assert not found, "\n" + "\n".join(found)


def test_there_is_something_to_look_at() -> None:
    assert {Path("saga/errors.py"), Path("dev.py")} <= {source.path for source in sources(*ALL)}


def test_no_module_is_over_300_lines() -> None:
    nothing_of(found for one in sources(*ALL) for found in rules.long_module(one))


def test_no_function_is_over_50_lines_but_decide_and_evolve() -> None:
    places = [place for place in ALL if place != "migrations"]  # a migration is one list
    nothing_of(found for one in sources(*places) for found in rules.long_functions(one))


def test_every_name_of_a_module_says_what_it_holds() -> None:
    nothing_of(found for one in sources(*ALL) for found in rules.names_that_say_nothing(one))


def test_every_shipped_module_lists_exactly_what_is_public() -> None:
    modules = [one for one in sources(*SHIPPED) if one.path.name != "__main__.py"]
    nothing_of(found for one in modules for found in rules.unlisted(one))


def test_time_ids_and_chance_come_through_their_seams() -> None:
    modules = [one for one in sources(*SHIPPED) if one.path not in SEAMS]
    nothing_of(found for one in modules for found in rules.bypasses(one, rules.PRODUCT))


def test_nothing_runs_data_as_code_or_mocks_what_it_tests() -> None:
    nothing_of(found for one in sources(*ALL) for found in rules.bypasses(one, rules.EVERYWHERE))


def test_only_the_journal_speaks_sql() -> None:
    """The import contract says so of SQLAlchemy in `saga` and `steps`; this sees the rest.

    One program installs the schema of another product, in an environment that has nothing of ours.
    """
    banned = dict.fromkeys(["alembic", "psycopg", "pysqlite3", "sqlalchemy"], "ask the journal")
    journal, theirs = Path("saga/journal"), Path("benchmarks/peers/order_on_absurd.py")
    modules = [
        one
        for one in sources(*SHIPPED, "examples", "benchmarks")
        if journal not in one.path.parents and one.path != theirs
    ]
    nothing_of(found for one in modules for found in rules.bypasses(one, banned))


def test_steps_and_examples_use_what_a_user_can_use() -> None:
    surface = {name for one in sources("saga/__init__.py") for name in rules.public_names(one)}
    modules = sources("steps", "examples")
    nothing_of(found for one in modules for found in rules.outside(one, surface))


def test_inside_saga_names_come_from_where_they_are_defined() -> None:
    rooms = {path.stem for path in (ROOT / "saga").iterdir() if not path.name.startswith("_")}
    modules = [one for one in sources("saga") if one.path.name != "__main__.py"]
    nothing_of(found for one in modules for found in rules.front_door(one, rooms))


@pytest.mark.parametrize("package", SHIPPED)
def test_what_is_shipped_is_typed_for_those_who_use_it(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
