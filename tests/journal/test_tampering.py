"""Whoever alters one stored thing is found out, and nobody else is accused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from saga.journal.columns import metadata
from saga.journal.sealing import Keyring
from saga.journal.verify import verify_database, verify_run
from tests.databases import files_only
from tests.journal.changes import TABLES, Change, changes_of_values, type_changes
from tests.journal.forging import forge
from tests.journal.older import rollback
from tests.journal.tamper import Bench, all_changes, loosen, sampled, unnamed
from tests.journal.world import KEY, PURGED, RUNS, SECOND_KEY, opened

Copy = Callable[[str | None], str]


@pytest.fixture(params=[KEY, None], ids=["hmac", "sha"])
def bench(request: pytest.FixtureRequest, copy: Copy) -> Iterator[Bench]:
    database = opened(copy(request.param), request.param)
    bench = Bench(database)
    yield bench
    bench.close()
    database.close()


def dialect(bench: Bench) -> str:
    return bench.connection.dialect.name


def test_an_untouched_database_verifies(bench: Bench) -> None:
    seen: list[tuple[int, int]] = []
    found = verify_database(bench.connection, bench.keys, lambda done, of: seen.append((done, of)))
    assert found == []
    assert seen[-1] == (len(RUNS) + 1, len(RUNS) + 1)
    assert all(verify_run(bench.connection, bench.keys, run) == [] for run in RUNS)


def test_every_kind_of_change_is_named_and_no_other_run_is(bench: Bench) -> None:
    """A sample of each column and of each way to move rows; `tests.journal.tamper --all` is whole.

    Reliability catalogue 17 to 19.
    """
    most = 18 if dialect(bench) == "sqlite" else 4  # what is read is judged by the same code
    changes = sampled(all_changes(bench), most)
    counts, wrong = unnamed(bench, changes)
    assert not wrong, "\n".join(wrong)
    if dialect(bench) == "sqlite":  # the other one takes no bytes that are no text
        assert counts["(not storable)"] <= 20
    assert counts.total() >= 50 * most, counts


def test_every_column_of_every_table_is_altered_but_owner_and_fence(bench: Bench) -> None:
    altered = {change.group for change in changes_of_values(bench.cursor)}
    columns = {f"{table}.{column.name}" for table in TABLES for column in metadata.tables[table].c}
    assert columns - altered == {"runs.owner", "runs.fence"}


@files_only
def test_a_null_or_another_type_is_named_where_the_tables_let_it_in(copy: Copy) -> None:
    """The strictness of the tables is theirs to lose: a hex editor does not ask them."""
    url = copy(KEY)
    loosen(url)
    database = opened(url)
    bench = Bench(database)
    counts, wrong = unnamed(bench, sampled(type_changes(bench.cursor), 5))
    assert not wrong, "\n".join(wrong)
    assert counts.total() >= 250, counts
    bench.close()
    database.close()


def test_a_fence_below_that_of_the_last_record_is_named(bench: Bench) -> None:
    lower = "UPDATE runs SET fence = 1 WHERE run_id = 'running'"
    change = Change("fence", "fence lowered", ((lower, ()),), ("running",), ("running",))
    assert bench.verdict(change) is None


def test_a_fence_that_could_not_grow_any_more_is_named(bench: Bench) -> None:
    absurd = "UPDATE runs SET fence = ? WHERE run_id = 'running'"
    change = Change("fence", "absurd", ((absurd, (2**63 - 1,)),), ("running",), ("running",))
    assert bench.verdict(change) is None


def test_owner_and_a_higher_fence_are_nobodys_business(bench: Bench) -> None:
    """They change with every claim, and no record says so."""
    claimed = "UPDATE runs SET owner = 'somebody', fence = fence + 7"
    with bench.changed(Change("owner", "claimed", ((claimed, ()),), (), ())):
        assert verify_database(bench.connection, bench.keys) == []


def test_a_whole_run_put_back_or_taken_away_is_not_seen(bench: Bench) -> None:
    """The limit: every row of it was right once. That needs a witness outside."""
    for run in ("finished", "running", "settled"):
        back = rollback(bench.connection, bench.cursor, bench.keys, run, 2)
        with bench.changed(back) as stored:
            assert stored
            assert verify_database(bench.connection, bench.keys) == []
    gone = tuple(
        (f"DELETE FROM {table} WHERE run_id = 'finished'", ())
        for table in ("runs", "journal", "actions", "cases")
    )
    with bench.changed(Change("gone", "run removed", gone, (), ())):
        assert verify_database(bench.connection, bench.keys) == []


def blamed(_: int, body: str) -> str:
    return body.replace('"alice"', '"mal01"')


@pytest.mark.parametrize("run", RUNS)
def test_an_edit_sealed_anew_with_another_key_is_named(copy: Copy, run: str) -> None:
    """Same name, other key; other name; no key at all: the chain is whole, and still not ours."""
    database = opened(copy(KEY))
    bench = Bench(database)
    stolen_name = "k1:" + SECOND_KEY.partition(":")[2]
    for forger in (stolen_name, SECOND_KEY, ""):
        change = forge(bench.cursor, Keyring.parse(forger), run, blamed)
        assert bench.verdict(change) is None
    bench.close()
    database.close()


def test_without_a_key_whoever_can_compute_a_hash_can_forge(copy: Copy) -> None:
    """The limit of plain SHA-256, which is why `health` speaks of it: it finds accidents only."""
    database = opened(copy(None), None)
    bench = Bench(database)
    change = forge(bench.cursor, database.keys, "finished", blamed)
    with bench.changed(change) as stored:
        assert stored
        assert verify_database(bench.connection, bench.keys) == []
    careless = forge(bench.cursor, database.keys, "finished", blamed, head=False)
    assert bench.verdict(careless) is None
    bench.close()
    database.close()


def test_a_run_of_another_database_with_the_same_keys_is_no_run_of_this_one(bench: Bench) -> None:
    """Reliability catalogue 22: a copy of production that has been given a name of its own."""
    keys, new = bench.keys, "ffffffffffff"
    (made,) = bench.cursor.execute("SELECT created_at FROM instance").fetchone()
    (added,) = bench.cursor.execute("SELECT added_at FROM sealing_keys").fetchone()
    renamed = (
        "UPDATE instance SET instance = ?, seal = ?",
        (new, keys.seal("instance", new, repr(made))),
    )
    listed = (
        "UPDATE sealing_keys SET seal = ?",
        (keys.seal("key", new, keys.key_id, repr(added)),),
    )
    with bench.changed(Change("copy", "renamed", (renamed, listed), (), ())):
        damages = verify_database(bench.connection, keys)
    assert {damage.run_id for damage in damages} == {*RUNS, *PURGED, "bystander"}
    assert all("another database" in damage.text for damage in damages)
